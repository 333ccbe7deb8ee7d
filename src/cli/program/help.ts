/** The end of every command's help: examples, and the settings that the command reads. */

import type { Command } from 'commander'
import { SETTINGS, type Settings } from '../../config/settings.ts'

type SettingKey = keyof Settings
export type CommandHelp = { examples: readonly string[]; settings: readonly SettingKey[] }

const STORE_SETTING_KEYS: readonly SettingKey[] = ['store', 'ledger', 'secret', 'pool']
const FILE_SETTING_KEYS: readonly SettingKey[] = [...STORE_SETTING_KEYS, 'files', 'diskFree']
const QUERY_SETTING_KEYS: readonly SettingKey[] = [
  'clientServer',
  'clientToken',
  ...STORE_SETTING_KEYS,
  'files',
  'filesEndpoint',
  'filesRegion',
]
const CRAWL_SETTING_KEYS: readonly SettingKey[] = [
  'crawlContact',
  'crawlOptOut',
  'crawlSelfCheck',
  'crawlMinInterval',
  'crawlMaxInterval',
  'crawlDiscover',
]
const CRAWL_LOOP_SETTING_KEYS: readonly SettingKey[] = [
  ...CRAWL_SETTING_KEYS,
  'crawlRate',
  'crawlShares',
  'crawlAdmin',
  'logLevel',
]
const NOT_SERVE_SETTING_KEYS: readonly SettingKey[] = [
  'storeTo',
  'ledgerTo',
  'czdsUser',
  'czdsPassword',
  'czdsAccounts',
  'czdsZones',
  'radarToken',
  'clientServer',
  'clientToken',
]
const ALL_SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[]

/** The help texts by command path. Every command that has an action has a row. */
export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = {
  serve: {
    examples: ['serve', 'serve --crawl --resolver 192.0.2.53'],
    settings: ALL_SETTING_KEYS.filter((key) => !NOT_SERVE_SETTING_KEYS.includes(key)),
  },
  crawl: {
    examples: ['crawl example.com', 'crawl --file names.txt.gz --json', 'crawl --loop', 'crawl --status --json'],
    settings: [...STORE_SETTING_KEYS, 'diskFree', ...CRAWL_LOOP_SETTING_KEYS],
  },
  import: {
    examples: ['import observations.jsonl.gz', 'import --format zone com.zone.gz --json', 'import --inbox'],
    settings: [...STORE_SETTING_KEYS, 'diskFree', 'zones', 'inbox', 'crawlMinInterval', 'crawlMaxInterval'],
  },
  'fetch axfr': {
    examples: ['fetch axfr --known', 'fetch axfr example.com@192.0.2.53 --tsig-file tsig.key --json'],
    settings: ['inbox', 'zones'],
  },
  'fetch ct': {
    examples: ['fetch ct', 'fetch ct --once --names names.txt', 'fetch ct --status --json'],
    settings: [...STORE_SETTING_KEYS, 'diskFree', 'ctList', 'ctListKey', 'ctStartBack', 'crawlOptOut'],
  },
  'fetch czds': {
    examples: ['fetch czds', 'fetch czds com net --json'],
    settings: ['inbox', 'zones', 'czdsUser', 'czdsPassword', 'czdsAccounts', 'czdsZones'],
  },
  'fetch list': {
    examples: ['fetch list tranco', 'fetch list https://lists.example/names.csv.gz --column domain --json'],
    settings: [...STORE_SETTING_KEYS, 'diskFree', 'radarToken'],
  },
  'build daily': {
    examples: ['build daily', 'build daily --date 2026-11-19 --release --json'],
    settings: [...FILE_SETTING_KEYS, 'zones', 'dailyBounds', 'dailyMinDifference'],
  },
  'build followup': {
    examples: ['build followup', 'build followup --date 2026-11-01 --after 7 --json'],
    settings: [...FILE_SETTING_KEYS, 'zones', 'followupWait'],
  },
  'build snapshot': {
    examples: ['build snapshot', 'build snapshot --date 2026-11-19 --json'],
    settings: [...FILE_SETTING_KEYS, 'snapshotsKept', 'snapshotParquet'],
  },
  jobs: {
    examples: ['jobs', 'jobs --json'],
    settings: [...FILE_SETTING_KEYS, 'zones', 'inbox', 'jobTimes', 'followupWait', 'dailyBounds', 'dailyMinDifference'],
  },
  index: { examples: ['index', 'index --json'], settings: [...STORE_SETTING_KEYS, 'diskFree'] },
  'account create': {
    examples: [
      'account create me@example.com --plan local',
      'account create ann@example.com --period premium:2026-04-01.. --addon export',
    ],
    settings: STORE_SETTING_KEYS,
  },
  'account list': { examples: ['account list', 'account list --json'], settings: STORE_SETTING_KEYS },
  'account show': { examples: ['account show ann@example.com'], settings: [...STORE_SETTING_KEYS, 'plans'] },
  'account plan': { examples: ['account plan ann@example.com premium'], settings: STORE_SETTING_KEYS },
  'account role': { examples: ['account role ann@example.com admin'], settings: STORE_SETTING_KEYS },
  'account period add': {
    examples: ['account period add ann@example.com basic:2026-01-01..2026-03-31'],
    settings: STORE_SETTING_KEYS,
  },
  'account period remove': {
    examples: ['account period remove ann@example.com 2026-01-01'],
    settings: STORE_SETTING_KEYS,
  },
  'account addon add': { examples: ['account addon add ann@example.com export'], settings: STORE_SETTING_KEYS },
  'account addon remove': { examples: ['account addon remove ann@example.com export'], settings: STORE_SETTING_KEYS },
  'account suspend': { examples: ['account suspend ann@example.com'], settings: STORE_SETTING_KEYS },
  'account resume': { examples: ['account resume ann@example.com'], settings: STORE_SETTING_KEYS },
  'account delete': { examples: ['account delete ann@example.com --yes'], settings: STORE_SETTING_KEYS },
  'account password': {
    examples: ['account password ann@example.com', 'account password ann@example.com < password.txt'],
    settings: STORE_SETTING_KEYS,
  },
  'account link': {
    examples: ['account link ann@example.com'],
    settings: [...STORE_SETTING_KEYS, 'publicUrl', 'host', 'port'],
  },
  'account token create': {
    examples: ['account token create ann@example.com --name laptop --expires 2027-01-31'],
    settings: STORE_SETTING_KEYS,
  },
  'account token list': { examples: ['account token list ann@example.com --json'], settings: STORE_SETTING_KEYS },
  'account token revoke': { examples: ['account token revoke ann@example.com laptop'], settings: STORE_SETTING_KEYS },
  'account usage': {
    examples: ['account usage', 'account usage ann@example.com --from 2026-11-01 --to 2026-11-30 --csv'],
    settings: STORE_SETTING_KEYS,
  },
  'account log': { examples: ['account log', 'account log ann@example.com --json'], settings: STORE_SETTING_KEYS },
  'operator token create': { examples: ['operator token create shop'], settings: STORE_SETTING_KEYS },
  'operator token list': { examples: ['operator token list --json'], settings: STORE_SETTING_KEYS },
  'operator token revoke': { examples: ['operator token revoke 3'], settings: STORE_SETTING_KEYS },
  check: { examples: ['check', 'check --json'], settings: STORE_SETTING_KEYS },
  retarget: { examples: ['retarget', 'retarget --json'], settings: STORE_SETTING_KEYS },
  forget: {
    examples: ['forget example.com', 'forget --opted-out --json'],
    settings: [...STORE_SETTING_KEYS, 'crawlOptOut'],
  },
  backup: { examples: ['backup /backups/2026-11-20'], settings: ['store', 'ledger'] },
  restore: { examples: ['restore /backups/2026-11-20'], settings: ['store', 'ledger'] },
  copy: {
    examples: ['copy', 'copy --json'],
    settings: ['store', 'ledger', 'storeTo', 'ledgerTo'],
  },
  export: {
    examples: ['export observations --output all.jsonl.gz', 'export parquet --output domains.parquet --json'],
    settings: STORE_SETTING_KEYS,
  },
  migrate: { examples: ['migrate --plan', 'migrate --json'], settings: ['store', 'ledger'] },
  'rotate-secret': { examples: ['rotate-secret'], settings: STORE_SETTING_KEYS },
  claim: {
    examples: ['claim', 'claim --json'],
    settings: [...STORE_SETTING_KEYS, 'files', 'filesEndpoint', 'filesRegion', 'zones', 'inbox', 'jobTimes'],
  },
  sizes: { examples: ['sizes', 'sizes --json'], settings: STORE_SETTING_KEYS },
  config: { examples: ['config', 'config --json'], settings: ALL_SETTING_KEYS },
  lookup: {
    examples: [
      'lookup example.com',
      'lookup --file domains.txt --csv',
      'lookup example.com --server https://domains.example.com',
    ],
    settings: QUERY_SETTING_KEYS,
  },
  redirect: {
    examples: ['redirect example.com', 'redirect example.com --all --json'],
    settings: QUERY_SETTING_KEYS,
  },
  reverseip: {
    examples: ['reverseip 192.0.2.1', 'reverseip example.com --limit 5000 --fields target,ip'],
    settings: QUERY_SETTING_KEYS,
  },
  dnshistory: {
    examples: ['dnshistory example.com', 'dnshistory example.com --type MX --all'],
    settings: QUERY_SETTING_KEYS,
  },
  similar: { examples: ['similar example.com', 'similar example.com --limit 10'], settings: QUERY_SETTING_KEYS },
  domain: {
    examples: ['domain example.com', 'domain example.com --at 2026-03-01'],
    settings: QUERY_SETTING_KEYS,
  },
  webhistory: { examples: ['webhistory example.com', 'webhistory example.com --all'], settings: QUERY_SETTING_KEYS },
  certificate: { examples: [`certificate ${'ab'.repeat(32)}`], settings: QUERY_SETTING_KEYS },
  certificatehistory: { examples: ['certificatehistory example.com'], settings: QUERY_SETTING_KEYS },
  namedcertificates: { examples: ['namedcertificates example.com --all'], settings: QUERY_SETTING_KEYS },
  redirecthistory: {
    examples: ['redirecthistory example.com', 'redirecthistory example.com --from 2026-01-01 --to 2026-03-31'],
    settings: QUERY_SETTING_KEYS,
  },
  ip: {
    examples: ['ip 192.0.2.1', 'ip 192.0.2.0/24 --at 2026-03-01', 'ip 2001:db8::/32 --from 2026-01-01 --to 2026-03-31'],
    settings: QUERY_SETTING_KEYS,
  },
  daily: {
    examples: ['daily 2026-11-19', 'daily 2026-11-01 --followup 7 --output -', 'daily --sync files --since 2026-01-01'],
    settings: QUERY_SETTING_KEYS,
  },
  snapshot: {
    examples: ['snapshot', 'snapshot --download --enriched'],
    settings: QUERY_SETTING_KEYS,
  },
  quota: { examples: ['quota --server https://domains.example.com'], settings: QUERY_SETTING_KEYS },
  login: {
    examples: ['login --server https://domains.example.com', 'login --server https://domains.example.com --remove'],
    settings: ['clientServer'],
  },
  mcp: { examples: ['mcp', 'mcp --server https://domains.example.com'], settings: QUERY_SETTING_KEYS },
  completion: { examples: ['completion bash', 'completion zsh', 'completion fish'], settings: [] },
  demo: { examples: ['demo', 'demo --port 8081 --folder /tmp/demo'], settings: [] },
}

/** The path of a command, without the program's name, such as `account token create`. */
export function commandPath(command: Command): string {
  const { parent } = command
  if (parent === null) return ''
  return `${commandPath(parent)} ${command.name()}`.trim()
}

/** Adds the texts of COMMAND_HELP to a command and its subcommands. */
export function addCommandHelp(command: Command): void {
  for (const each of command.commands) addCommandHelp(each)
  const help = COMMAND_HELP[commandPath(command)]
  if (help !== undefined) command.addHelpText('after', `\n${commandHelpText(help)}`)
}

function commandHelpText({ examples, settings }: CommandHelp): string {
  const lines = ['Examples:', ...examples.map((example) => `  domaindex ${example}`), '']
  if (settings.length === 0) return [...lines, 'This command reads no settings.'].join('\n')
  if (settings.length === ALL_SETTING_KEYS.length)
    return [...lines, 'This command reads all settings (see docs/settings.md).'].join('\n')
  const names = settings.map((key) => SETTINGS[key].name)
  return [...lines, 'Settings (domaindex config prints their values):', ...wrapNames(names)].join('\n')
}

/** Wraps names in lines of at most 100 characters. */
function wrapNames(names: readonly string[]): string[] {
  const lines: string[] = []
  for (const name of names) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + name.length < 99) lines[lines.length - 1] = `${last} ${name}`
    else lines.push(`  ${name}`)
  }
  return lines
}
