/** The end of every command's help: examples, and the settings that the command reads. */

import type { Command } from 'commander'
import { SETTINGS, type Settings } from '../../config/settings.ts'

type SettingKey = keyof Settings
type CommandHelp = { examples: readonly string[]; settings: readonly SettingKey[] }

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
  'forgottenFiles',
]
const ALL_SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[]
const SERVE_SETTING_KEYS = ALL_SETTING_KEYS.filter((key) => !NOT_SERVE_SETTING_KEYS.includes(key))

/** The help texts of commands that read the same settings. */
function helpOf(
  settings: readonly SettingKey[],
  examples: Readonly<Record<string, readonly string[]>>,
): Record<string, CommandHelp> {
  return Object.fromEntries(Object.entries(examples).map(([path, each]) => [path, { examples: each, settings }]))
}

/** The help texts by command path. Every command that has an action has a row. */
export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = {
  serve: {
    examples: ['serve', 'serve --crawl --resolver 192.0.2.53'],
    settings: SERVE_SETTING_KEYS,
  },
  crawl: {
    examples: ['crawl example.com', 'crawl --file names.txt.gz --json', 'crawl --loop', 'crawl --status --json'],
    settings: [...STORE_SETTING_KEYS, 'diskFree', ...CRAWL_LOOP_SETTING_KEYS],
  },
  import: {
    examples: ['import observations.jsonl.gz', 'import --format zone com.zone.gz --json', 'import --inbox'],
    settings: [
      ...STORE_SETTING_KEYS,
      'diskFree',
      'zones',
      'inbox',
      'crawlMinInterval',
      'crawlMaxInterval',
      'crawlOptOut',
    ],
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
    settings: [...STORE_SETTING_KEYS, 'diskFree', 'radarToken', 'crawlOptOut'],
  },
  'build daily': {
    examples: ['build daily', 'build daily --date 2026-11-19 --release --json'],
    settings: [...FILE_SETTING_KEYS, 'zones', 'dailyBounds', 'dailyMinDifference', 'crawlOptOut'],
  },
  'build followup': {
    examples: ['build followup', 'build followup --date 2026-11-01 --after 7 --json'],
    settings: [...FILE_SETTING_KEYS, 'zones', 'followupWait', 'crawlOptOut'],
  },
  'build snapshot': {
    examples: ['build snapshot', 'build snapshot --date 2026-11-19 --json'],
    settings: [...FILE_SETTING_KEYS, 'snapshotsKept', 'snapshotParquet'],
  },
  jobs: {
    examples: ['jobs', 'jobs --json'],
    settings: [...FILE_SETTING_KEYS, 'zones', 'inbox', 'jobTimes', 'followupWait', 'dailyBounds', 'dailyMinDifference'],
  },
  doctor: {
    examples: ['doctor', 'doctor --resolver 192.0.2.53 --resolver 198.51.100.53 --json'],
    settings: SERVE_SETTING_KEYS,
  },
  index: { examples: ['index', 'index --json'], settings: [...STORE_SETTING_KEYS, 'diskFree'] },
  'account show': { examples: ['account show ann@example.com'], settings: [...STORE_SETTING_KEYS, 'plans'] },
  'account link': {
    examples: ['account link ann@example.com'],
    settings: [...STORE_SETTING_KEYS, 'publicUrl', 'host', 'port'],
  },
  forget: {
    examples: ['forget example.com', 'forget --suffix example.com', 'forget --opted-out --json'],
    settings: [...FILE_SETTING_KEYS, 'forgottenFiles', 'crawlOptOut'],
  },
  backup: { examples: ['backup /backups/2026-11-20'], settings: ['store', 'ledger'] },
  restore: { examples: ['restore /backups/2026-11-20'], settings: ['store', 'ledger'] },
  copy: {
    examples: ['copy', 'copy --json'],
    settings: ['store', 'ledger', 'storeTo', 'ledgerTo'],
  },
  migrate: { examples: ['migrate --plan', 'migrate --json'], settings: ['store', 'ledger'] },
  prune: {
    examples: ['prune --dry-run', 'prune', 'prune --json'],
    settings: [
      ...FILE_SETTING_KEYS,
      ...(['filesEndpoint', 'filesRegion', 'zones', 'inbox'] as const),
      ...(['keepHistory', 'keepFiles', 'keepInbox', 'keepUsage', 'keepAudit'] as const),
    ],
  },
  sizes: {
    examples: ['sizes', 'sizes --json'],
    settings: [...FILE_SETTING_KEYS, 'filesEndpoint', 'filesRegion', 'zones', 'inbox'],
  },
  claim: {
    examples: ['claim', 'claim --json'],
    settings: [...STORE_SETTING_KEYS, 'files', 'filesEndpoint', 'filesRegion', 'zones', 'inbox', 'jobTimes'],
  },
  config: { examples: ['config', 'config --json'], settings: ALL_SETTING_KEYS },
  login: {
    examples: ['login --server https://domains.example.com', 'login --server https://domains.example.com --remove'],
    settings: ['clientServer'],
  },
  completion: { examples: ['completion bash', 'completion zsh', 'completion fish'], settings: [] },
  demo: { examples: ['demo', 'demo --port 8081 --folder /tmp/demo'], settings: [] },
  ...helpOf(STORE_SETTING_KEYS, {
    'account create': [
      'account create me@example.com --plan local',
      'account create ann@example.com --period premium:2026-04-01.. --addon export',
    ],
    'account list': ['account list', 'account list --json'],
    'account plan': ['account plan ann@example.com premium'],
    'account role': ['account role ann@example.com admin'],
    'account period add': ['account period add ann@example.com basic:2026-01-01..2026-03-31'],
    'account period remove': ['account period remove ann@example.com 2026-01-01'],
    'account addon add': ['account addon add ann@example.com export'],
    'account addon remove': ['account addon remove ann@example.com export'],
    'account suspend': ['account suspend ann@example.com'],
    'account resume': ['account resume ann@example.com'],
    'account delete': ['account delete ann@example.com --yes'],
    'account export': ['account export ann@example.com --out ann.json'],
    'account password': ['account password ann@example.com', 'account password ann@example.com < password.txt'],
    'account token create': ['account token create ann@example.com --name laptop --expires 2027-01-31'],
    'account token list': ['account token list ann@example.com --json'],
    'account token revoke': ['account token revoke ann@example.com laptop'],
    'account usage': ['account usage', 'account usage ann@example.com --from 2026-11-01 --to 2026-11-30 --csv'],
    'account log': ['account log', 'account log ann@example.com --json'],
    'operator token create': ['operator token create shop'],
    'operator token list': ['operator token list --json'],
    'operator token revoke': ['operator token revoke 3'],
    check: ['check', 'check --json'],
    retarget: ['retarget', 'retarget --json'],
    export: ['export observations --output all.jsonl.gz', 'export parquet --output domains.parquet --json'],
    'rotate-secret': ['rotate-secret'],
  }),
  ...helpOf(QUERY_SETTING_KEYS, {
    lookup: [
      'lookup example.com',
      'lookup --file domains.txt --csv',
      'lookup example.com --server https://domains.example.com',
    ],
    redirect: ['redirect example.com', 'redirect example.com --all --json'],
    reverseip: ['reverseip 192.0.2.1', 'reverseip example.com --limit 5000 --fields target,ip'],
    dnshistory: ['dnshistory example.com', 'dnshistory example.com --type MX --all'],
    similar: ['similar example.com', 'similar example.com --limit 10'],
    domain: ['domain example.com', 'domain example.com --at 2026-03-01'],
    webhistory: ['webhistory example.com', 'webhistory example.com --all'],
    certificate: [`certificate ${'ab'.repeat(32)}`],
    certificatehistory: ['certificatehistory example.com'],
    namedcertificates: ['namedcertificates example.com --all'],
    redirecthistory: ['redirecthistory example.com', 'redirecthistory example.com --from 2026-01-01 --to 2026-03-31'],
    ip: ['ip 192.0.2.1', 'ip 192.0.2.0/24 --at 2026-03-01', 'ip 2001:db8::/32 --from 2026-01-01 --to 2026-03-31'],
    search: ['search bank', "search 'bank*' --tld co.uk --all", "search '/^(login|secure)-?bank/' --has-website yes"],
    registered: [
      "registered '*bank*' --date 2026-11-19",
      "registered '/^(login|secure)-?bank/' --date 2026-11-19 --all",
    ],
    dropped: ["dropped 'bank*' --date 2026-11-19"],
    lookalikes: ['lookalikes example.com', 'lookalikes login.example.com --all --json'],
    'watch add': ['watch add suffix example.com', "watch add pattern '*paypal*' --types new"],
    'watch preview': ['watch preview lookalikes example.com'],
    'watch list': ['watch list'],
    'watch mute': ['watch mute 3', 'watch mute 3 --off'],
    'watch remove': ['watch remove 3'],
    'watch events': ['watch events --after 1042', 'watch events --follow'],
    'watch digest': ['watch digest daily', 'watch digest'],
    'watch feed': ['watch feed', 'watch feed --revoke'],
    'webhook add': ['webhook add https://example.com/domaindex --watches 1,3'],
    'webhook list': ['webhook list'],
    'webhook remove': ['webhook remove 1'],
    'webhook test': ['webhook test 1'],
    'webhook deliveries': ['webhook deliveries 1'],
    'webhook redeliver': ['webhook redeliver 1', 'webhook redeliver 1 --event 1042'],
    daily: ['daily 2026-11-19', 'daily 2026-11-01 --followup 7 --output -', 'daily --sync files --since 2026-01-01'],
    snapshot: ['snapshot', 'snapshot --download --enriched'],
    quota: ['quota --server https://domains.example.com'],
    mcp: ['mcp', 'mcp --server https://domains.example.com'],
  }),
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
