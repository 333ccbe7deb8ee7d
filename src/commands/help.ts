/** What every command's help has behind its options: examples, and the settings that it reads. */

import type { Command } from 'commander'
import { SETTINGS, type Settings } from '../config.ts'

type Key = keyof Settings
export type Help = { examples: readonly string[]; settings: readonly Key[] }

const STORE: readonly Key[] = ['store', 'ledger', 'secret', 'pool']
const FILES: readonly Key[] = [...STORE, 'files', 'diskFree']
const CRAWL: readonly Key[] = ['crawlContact', 'crawlOptOut', 'crawlControls', 'crawlSoonest', 'crawlLatest']
const LOOP: readonly Key[] = [...CRAWL, 'crawlRate', 'crawlShares', 'crawlAdmin', 'logLevel']
const NOT_OF_SERVE: readonly Key[] = ['storeTo', 'ledgerTo', 'czdsUser', 'czdsPassword', 'czdsAccounts', 'czdsZones']
const ALL = Object.keys(SETTINGS) as Key[]

/** By the command's path: every command that can be run has its row, and no other. */
export const HELP: Readonly<Record<string, Help>> = {
  serve: {
    examples: ['serve', 'serve --crawl --resolver 192.0.2.53'],
    settings: ALL.filter((key) => !NOT_OF_SERVE.includes(key)),
  },
  crawl: {
    examples: ['crawl example.com', 'crawl --file names.txt.gz --json', 'crawl --loop', 'crawl --status --json'],
    settings: [...STORE, 'diskFree', ...LOOP],
  },
  import: {
    examples: ['import observations.jsonl.gz', 'import --format zone com.zone.gz --json', 'import --inbox'],
    settings: [...STORE, 'diskFree', 'zones', 'inbox', 'crawlSoonest', 'crawlLatest'],
  },
  fetch: {
    examples: ['fetch czds', 'fetch czds com net --json'],
    settings: ['inbox', 'zones', 'czdsUser', 'czdsPassword', 'czdsAccounts', 'czdsZones'],
  },
  'build daily': {
    examples: ['build daily', 'build daily --date 2026-11-19 --release --json'],
    settings: [...FILES, 'zones', 'dailyBounds', 'dailyFloor'],
  },
  'build followup': {
    examples: ['build followup', 'build followup --date 2026-11-01 --after 7 --json'],
    settings: [...FILES, 'zones', 'followupWait'],
  },
  'build snapshot': {
    examples: ['build snapshot', 'build snapshot --date 2026-11-19 --json'],
    settings: [...FILES, 'snapshotsKept'],
  },
  jobs: {
    examples: ['jobs', 'jobs --json'],
    settings: [...FILES, 'zones', 'inbox', 'night', 'followupWait', 'dailyBounds', 'dailyFloor'],
  },
  index: { examples: ['index', 'index --json'], settings: [...STORE, 'diskFree'] },
  'account create': {
    examples: [
      'account create me@example.com --plan local',
      'account create ann@example.com --period premium:2026-04-01.. --addon export',
    ],
    settings: STORE,
  },
  'account list': { examples: ['account list', 'account list --json'], settings: STORE },
  'account show': { examples: ['account show ann@example.com'], settings: [...STORE, 'plans'] },
  'account plan': { examples: ['account plan ann@example.com premium'], settings: STORE },
  'account role': { examples: ['account role ann@example.com admin'], settings: STORE },
  'account period add': {
    examples: ['account period add ann@example.com basic:2026-01-01..2026-03-31'],
    settings: STORE,
  },
  'account period remove': {
    examples: ['account period remove ann@example.com 2026-01-01'],
    settings: STORE,
  },
  'account addon add': { examples: ['account addon add ann@example.com export'], settings: STORE },
  'account addon remove': { examples: ['account addon remove ann@example.com export'], settings: STORE },
  'account suspend': { examples: ['account suspend ann@example.com'], settings: STORE },
  'account resume': { examples: ['account resume ann@example.com'], settings: STORE },
  'account delete': { examples: ['account delete ann@example.com --yes'], settings: STORE },
  'account token create': {
    examples: ['account token create ann@example.com --name laptop --expires 2027-01-31'],
    settings: STORE,
  },
  'account token list': { examples: ['account token list ann@example.com --json'], settings: STORE },
  'account token revoke': { examples: ['account token revoke ann@example.com laptop'], settings: STORE },
  'account usage': {
    examples: ['account usage', 'account usage ann@example.com --from 2026-11-01 --to 2026-11-30 --csv'],
    settings: STORE,
  },
  'account log': { examples: ['account log', 'account log ann@example.com --json'], settings: STORE },
  check: { examples: ['check', 'check --json'], settings: STORE },
  retarget: { examples: ['retarget', 'retarget --json'], settings: STORE },
  forget: {
    examples: ['forget example.com', 'forget --opted-out --json'],
    settings: [...STORE, 'crawlOptOut'],
  },
  backup: { examples: ['backup /backups/2026-11-20'], settings: ['store', 'ledger'] },
  restore: { examples: ['restore /backups/2026-11-20'], settings: ['store', 'ledger'] },
  copy: {
    examples: ['copy', 'copy --json'],
    settings: ['store', 'ledger', 'storeTo', 'ledgerTo'],
  },
  migrate: { examples: ['migrate --plan', 'migrate --json'], settings: ['store', 'ledger'] },
  'rotate-secret': { examples: ['rotate-secret'], settings: STORE },
  config: { examples: ['config', 'config --json'], settings: ALL },
  demo: { examples: ['demo', 'demo --port 8081 --folder /tmp/demo'], settings: [] },
}

/** The path of a command, without the program's name, such as `account token create`. */
export function pathOf(command: Command): string {
  const { parent } = command
  if (parent === null) return ''
  return `${pathOf(parent)} ${command.name()}`.trim()
}

/** Adds to a command and the commands below it what HELP has of them. */
export function addHelp(command: Command): void {
  for (const each of command.commands) addHelp(each)
  const help = HELP[pathOf(command)]
  if (help !== undefined) command.addHelpText('after', `\n${textOf(help)}`)
}

function textOf({ examples, settings }: Help): string {
  const lines = ['Examples:', ...examples.map((example) => `  domaindex ${example}`), '']
  if (settings.length === 0) return [...lines, 'It reads no settings.'].join('\n')
  if (settings.length === ALL.length)
    return [...lines, 'It reads every setting; docs/settings.md explains them.'].join('\n')
  const names = settings.map((key) => SETTINGS[key].name)
  return [...lines, 'Settings that it reads (domaindex config prints what is in force):', ...wrapped(names)].join('\n')
}

/** Names in lines of at most 100 characters. */
function wrapped(names: readonly string[]): string[] {
  const lines: string[] = []
  for (const name of names) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + name.length < 99) lines[lines.length - 1] = `${last} ${name}`
    else lines.push(`  ${name}`)
  }
  return lines
}
