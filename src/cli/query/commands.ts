/** The commands that answer queries, as rows of a table; `domaindex quota` and `domaindex login`. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { UsageFault } from '../../config/command-fault.ts'
import { loadSettings } from '../../config/settings.ts'
import { type AnyRecord, RECORD_TYPES, type RecordType } from '../../values/records/dns-record.ts'
import { formatPresentation } from '../../values/records/presentation.ts'
import { readSecret } from '../program/arguments.ts'
import { EXIT_CODES_HELP, toClientFault } from '../program/client-fault.ts'
import { printResult } from '../program/output.ts'
import {
  askAddressTimes,
  askCertificate,
  askCertificateHistory,
  askDayNames,
  askHistory,
  askLookalikes,
  askLookup,
  askNamedCertificates,
  askObserved,
  askRecords,
  askRedirectHistory,
  askRows,
  askSearch,
  askSimilar,
  askWebHistory,
} from './pages.ts'
import {
  addOutputOptions,
  addPageOptions,
  addServerOptions,
  defineQueryCommand,
  type QueryCommand,
  type QueryOptions,
  withAnswerSource,
} from './query-command.ts'
import { isJsonOutput, openRowWriter, type Row } from './row-writer.ts'
import { createClient, requestedServer } from './source.ts'
import { keepToken, serverKey, tokensPath } from './tokens.ts'

type LoginOptions = { server?: string; remove?: true; json?: true }

const LOGIN_HELP = `
The token comes from the terminal or from standard input, never from an argument, which other users can see. The
server checks it; that costs no call. It is kept for this server, in domaindex/tokens.json in $XDG_CONFIG_HOME or
~/.config, which only you can read.`

const LOOKUP_FIELDS = [
  ...['query', 'has_website', 'redirect_to_https', 'redirect_to_www', 'redirect_to_domain', 'only_with_www'],
  ...['only_dns_no_web', 'ssl', 'ip', 'redirect_count', 'reverse_ip_count', 'social_networks', 'social_accounts'],
]
/** Those of the specification, and when DNS and website were last observed. */
const LOOKUP_COLUMNS = [...LOOKUP_FIELDS, 'dns_observed', 'web_observed']
/** What fits in a line of a terminal. */
const LOOKUP_TABLE_COLUMNS = [
  ...['query', 'has_website', 'redirect_to_domain', 'ssl', 'ip', 'redirect_count', 'reverse_ip_count'],
  ...['dns_observed', 'web_observed'],
]
const REDIRECT_FIELDS = ['query', 'target']
const REVERSEIP_FIELDS = ['query', 'target', 'ip', 'since']
const HISTORY_FIELDS = ['query', 'type', 'first_seen', 'records']
const RECORD_FIELDS = ['query', 'ip', 'type', 'since', 'last_seen', 'records']
const ADDRESS_FIELDS = ['query', 'target', 'ip', 'first_seen', 'last_seen']
const WEB_FIELDS = [
  ...['query', 'first_seen', 'last_seen', 'has_website', 'redirect_to_https', 'redirect_to_www', 'redirect_to_domain'],
  ...['only_with_www', 'ssl', 'redirects_to', 'redirect_host'],
]
/** What fits in a line of a terminal. */
const WEB_TABLE_COLUMNS = ['query', 'first_seen', 'last_seen', 'has_website', 'ssl', 'redirects_to']
const REDIRECT_TIMES_FIELDS = ['query', 'target', 'redirect_host', 'first_seen', 'last_seen']
const CERTIFICATE_FIELDS = [
  ...['query', 'target', 'first_seen', 'last_seen', 'issuer', 'not_before', 'not_after', 'names', 'key'],
]
const CERTIFICATE_COLUMNS = ['target', 'first_seen', 'last_seen', 'issuer']
const CERTIFICATES_FIELDS = [
  ...['query', 'first_seen', 'last_seen', 'sha256', 'issuer', 'not_before', 'not_after', 'names', 'key'],
]
const CERTIFICATES_COLUMNS = ['query', 'first_seen', 'last_seen', 'sha256']
const NAMED_FIELDS = ['query', 'name', 'sha256', 'issuer', 'not_before', 'not_after', 'key']
const NAMED_COLUMNS = ['query', 'name', 'sha256', 'not_after']
const SEARCH_FIELDS = ['query', 'name', 'first_seen', 'registered', 'observed', 'ip', 'has_website', 'redirects_to']
const DAY_NAMES_FIELDS = ['query', 'date', 'name']
const LOOKALIKE_FIELDS = [
  ...[
    'query',
    'name',
    'score',
    'reasons',
    'first_seen',
    'registered',
    'observed',
    'resolves',
    'mail',
    'website',
    'redirects_to',
  ],
  ...['similarity', 'shares'],
]
const LOOKALIKE_TABLE_COLUMNS = ['query', 'name', 'score', 'reasons', 'resolves', 'mail', 'website', 'shares']
const SIMILAR_FIELDS = ['query', 'target', 'similarity']
const QUOTA_FIELDS = ['limit', 'used', 'remaining', 'reset']

/** `pages`: what its pages count, if it has pages; `options`: those of its own. */
type QueryRow = QueryCommand & { pages?: string; options?: () => Option[] }

const QUERY_COMMANDS = {
  lookup: {
    argument: 'the domains',
    shape: { fields: LOOKUP_FIELDS, columns: LOOKUP_COLUMNS, tableColumns: LOOKUP_TABLE_COLUMNS },
    ask: (client, options) => (isJsonOutput(options) ? askLookup(client) : askObserved(client)),
    isBatched: isJsonOutput,
    isSingle: true,
  },
  redirect: {
    argument: 'the domains',
    shape: { fields: REDIRECT_FIELDS, columns: REDIRECT_FIELDS },
    ask: (client, options) => askRows(client, 'redirect', options),
    pages: 'rows',
  },
  reverseip: {
    argument: 'the domains and IP addresses',
    shape: { fields: REVERSEIP_FIELDS, columns: REVERSEIP_FIELDS },
    ask: (client, options) => askRows(client, 'reverseip', options),
    pages: 'rows',
  },
  dnshistory: {
    argument: 'the domains',
    shape: { fields: HISTORY_FIELDS, columns: HISTORY_FIELDS.with(-1, 'record'), split: recordLines },
    ask: askHistory,
    options: () => [
      new Option('--type <type>', 'states of this record type only').choices(RECORD_TYPES).argParser(parseType),
    ],
    pages: 'states of each type',
  },
  similar: {
    argument: 'the domains',
    shape: {
      fields: SIMILAR_FIELDS,
      columns: SIMILAR_FIELDS,
      split: (row) => [{ ...row, similarity: Number(row.similarity).toFixed(4) }],
    },
    ask: askSimilar,
    options: () => [
      new Option('--limit <rows>', 'print at most this number of rows, up to 100').argParser(parseSimilarLimit),
    ],
  },
  domain: {
    argument: 'the domains',
    shape: { fields: RECORD_FIELDS, columns: RECORD_FIELDS.with(-1, 'record'), split: recordLines },
    ask: askRecords,
    isBatched: () => false,
    options: () => [momentOption()],
  },
  webhistory: {
    argument: 'the domains',
    shape: { fields: WEB_FIELDS, columns: WEB_FIELDS, tableColumns: WEB_TABLE_COLUMNS },
    ask: askWebHistory,
    isBatched: () => false,
    pages: 'states',
  },
  redirecthistory: {
    argument: 'the domains',
    shape: { fields: REDIRECT_TIMES_FIELDS, columns: REDIRECT_TIMES_FIELDS },
    ask: askRedirectHistory,
    isBatched: () => false,
    options: () => timeOptions('what redirected'),
    pages: 'rows',
  },
  certificate: {
    argument: 'the SHA-256 of certificates, in hex',
    shape: { fields: CERTIFICATE_FIELDS, columns: CERTIFICATE_FIELDS, tableColumns: CERTIFICATE_COLUMNS },
    ask: askCertificate,
    isBatched: () => false,
    pages: 'rows',
  },
  certificatehistory: {
    argument: 'the domains',
    shape: { fields: CERTIFICATES_FIELDS, columns: CERTIFICATES_FIELDS, tableColumns: CERTIFICATES_COLUMNS },
    ask: askCertificateHistory,
    isBatched: () => false,
    pages: 'states',
  },
  namedcertificates: {
    argument: 'the domains',
    shape: { fields: NAMED_FIELDS, columns: NAMED_FIELDS, tableColumns: NAMED_COLUMNS },
    ask: askNamedCertificates,
    isBatched: () => false,
    pages: 'rows',
  },
  ip: {
    argument: 'the addresses and networks, such as 192.0.2.0/24',
    shape: { fields: ADDRESS_FIELDS, columns: ADDRESS_FIELDS },
    ask: askAddressTimes,
    isBatched: () => false,
    kind: 'network',
    options: () => timeOptions('who was there'),
    pages: 'rows',
  },
  search: {
    argument: 'the texts, patterns such as bank*, or regular expressions between slashes',
    shape: { fields: SEARCH_FIELDS, columns: SEARCH_FIELDS },
    ask: askSearch,
    isBatched: () => false,
    kind: 'text',
    options: searchOptions,
    pages: 'rows',
  },
  registered: dayNamesRow('registered'),
  dropped: dayNamesRow('dropped'),
  lookalikes: {
    argument: 'the domains of brands',
    shape: { fields: LOOKALIKE_FIELDS, columns: LOOKALIKE_FIELDS, tableColumns: LOOKALIKE_TABLE_COLUMNS },
    ask: askLookalikes,
    isBatched: () => false,
    pages: 'rows',
  },
} satisfies Record<string, QueryRow>

/** Returns what defines a command of the table. */
export function queryCommand(name: keyof typeof QUERY_COMMANDS): (command: Command) => void {
  const { options = () => [], pages, ...definition }: QueryRow = QUERY_COMMANDS[name]
  return (command) => {
    defineQueryCommand(command, definition)
    for (const option of options()) command.addOption(option)
    if (pages !== undefined) addPageOptions(command, pages)
  }
}

/** The command for the names of a day that searches find. */
function dayNamesRow(movement: 'registered' | 'dropped'): QueryRow {
  return {
    argument: 'the texts, patterns such as *bank*, or regular expressions between slashes',
    shape: { fields: DAY_NAMES_FIELDS, columns: DAY_NAMES_FIELDS },
    ask: (client, options) => askDayNames(client, movement, options),
    isBatched: () => false,
    kind: 'text',
    options: () => [
      new Option(
        '--date <day>',
        `the day on which the names were ${movement}, such as 2026-11-19`,
      ).makeOptionMandatory(),
    ],
    pages: 'rows',
  }
}

function momentOption(): Option {
  return new Option('--at <date>', 'as of the end of this day, or as of this RFC 3339 time')
}

/** `rows`: what the rows say, such as `who was there`. */
function timeOptions(rows: string): Option[] {
  return [
    momentOption().conflicts(['from', 'to']),
    new Option('--from <date>', `${rows} from this day or time on`),
    new Option('--to <date>', `${rows} up to this day or time`),
  ]
}

function searchOptions(): Option[] {
  return [
    new Option('--tld <suffix>', 'names below this suffix'),
    new Option('--first-seen-from <date>', 'names that were first seen from this day or time on'),
    new Option('--first-seen-to <date>', 'names that were first seen up to this day or time'),
    new Option('--registered-from <day>', 'names that were registered on this day or later'),
    new Option('--registered-to <day>', 'names that were registered on this day or earlier'),
    new Option('--has-website <answer>', 'names with a website, or whose probe found none').choices(['yes', 'no']),
    new Option('--ip <address>', 'names on this address or in this network'),
    new Option('--ns <host>', 'names with this name server, or one below it'),
    new Option('--mx <host>', 'names with this mail host, or one below it'),
  ]
}

function parseType(text: string): RecordType {
  const type = RECORD_TYPES.find((each) => each === text.toUpperCase())
  if (type === undefined) throw new InvalidArgumentError(`It must be one of ${RECORD_TYPES.join(', ')}.`)
  return type
}

/** A line for each record of a state in presentation form. A state without records has a line without a record. */
function recordLines(row: Row): Row[] {
  const records = row.records as AnyRecord[]
  if (records.length === 0) return [{ ...row, record: '' }]
  return records.map((record) => ({ ...row, record: formatPresentation(row.type as RecordType, record) }))
}

function parseSimilarLimit(text: string): number {
  if (/^([1-9]\d?|100)$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1 to 100.')
}

export function defineQuota(command: Command): void {
  addServerOptions(addOutputOptions(command))
    .addHelpText('after', `\nIt costs no call. The local store has no limit.\n\n${EXIT_CODES_HELP}`)
    .action(async (options: QueryOptions) => {
      const writer = openRowWriter({ fields: QUOTA_FIELDS, columns: QUOTA_FIELDS }, options, true)
      await withAnswerSource(options, writer, async ({ client }, signal) =>
        writer.write([await client.quota({ signal })]),
      )
    })
}

/** `domaindex login`: keeps the token of a server for the client commands. */
export function defineLogin(command: Command): void {
  command
    .option('--server <url>', 'the server; by default DOMAINDEX_SERVER')
    .option('--remove', 'remove the kept token of the server')
    .option('--json', 'print one JSON object: server, path')
    .addHelpText('after', `${LOGIN_HELP}\n\n${EXIT_CODES_HELP}`)
    .action(logIn)
}

async function logIn({ server, remove, json }: LoginOptions): Promise<void> {
  const address = requestedServer({ ...(server !== undefined && { server }) }, loadSettings())
  if (address === null) throw new UsageFault('name the server with --server or DOMAINDEX_SERVER')
  const result = { server: serverKey(address), path: tokensPath() }
  if (remove) {
    keepToken(address, null)
    return printResult(json, result, [`the token of ${result.server} is removed from ${result.path}`])
  }
  const token = (await readSecret('Token', false)).trim()
  try {
    await createClient(address, token).quota()
  } catch (error) {
    throw toClientFault(error)
  }
  keepToken(address, token)
  printResult(json, result, [`the token of ${result.server} is kept in ${result.path}`])
}
