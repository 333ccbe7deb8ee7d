/** The settings of the sources of names. */

import { isUrl } from '../jobs/file-store/location.ts'
import { parseSwitch, parseWholeNumber, type Setting } from './parse.ts'

export type NamesSettings = {
  /** The folder of registrations. */
  zones: string
  /** The folder for zones and lists to import. */
  inbox: string
  /** The user name of the account at CZDS. Null: there is none. */
  czdsUser: string | null
  czdsPassword: string | null
  /** The base URL of the server that authenticates the account. */
  czdsAccounts: string
  /** The base URL of the server that lists the zones. */
  czdsZones: string
  /** The URL or path of the list of certificate logs. */
  ctList: string
  /** The path of the public key that signs that list. Null: it is not verified. */
  ctListKey: string | null
  /** Entries before the end of a certificate log at which reading begins. */
  ctStartBack: number
  /** Whether the certificates of logs are stored, and not only their names. */
  ctCertificates: boolean
  /** A token of Cloudflare that may read Radar. Null: there is none. */
  radarToken: string | null
}

export const NAMES_SETTINGS: { readonly [Key in keyof NamesSettings]: Setting<NamesSettings[Key]> } = {
  zones: {
    name: 'DOMAINDEX_ZONES',
    defaultText: 'data/zones',
    meaning: 'The folder of the names registered and dropped on each day, and of the names of each zone.',
    allowed: 'a folder path, not a URL',
    parse: (text) => (isUrl(text) ? undefined : text),
  },
  inbox: {
    name: 'DOMAINDEX_INBOX',
    defaultText: 'data/inbox',
    meaning: 'The folder for zones and lists of names that scheduled jobs import.',
    allowed: 'a folder path, not a URL',
    parse: (text) => (isUrl(text) ? undefined : text),
  },
  czdsUser: {
    name: 'DOMAINDEX_CZDS_USER',
    defaultText: '',
    meaning: "The user name of an account at ICANN's CZDS, from which `domaindex fetch czds` downloads zones.",
    allowed: 'a text',
    parse: (text) => (text === '' ? null : text),
  },
  czdsPassword: {
    name: 'DOMAINDEX_CZDS_PASSWORD',
    defaultText: '',
    meaning: 'The password of that account.',
    allowed: 'a text',
    isSecret: true,
    parse: (text) => (text === '' ? null : text),
  },
  czdsAccounts: {
    name: 'DOMAINDEX_CZDS_ACCOUNTS',
    defaultText: 'https://account-api.icann.org',
    meaning: 'The server that authenticates that account.',
    allowed: 'an https:// URL without a path, or an http:// URL of this machine (127.0.0.1, [::1], localhost)',
    parse: parseBaseUrl,
  },
  czdsZones: {
    name: 'DOMAINDEX_CZDS_ZONES',
    defaultText: 'https://czds-api.icann.org',
    meaning: 'The server that lists the zones available to that account.',
    allowed: 'an https:// URL without a path, or an http:// URL of this machine (127.0.0.1, [::1], localhost)',
    parse: parseBaseUrl,
  },
  ctList: {
    name: 'DOMAINDEX_CT_LIST',
    defaultText: 'https://www.gstatic.com/ct/log_list/v3/log_list.json',
    meaning: 'The list of certificate logs (JSON, version 3) that `domaindex fetch ct` and `serve --ct` follow.',
    allowed: 'an http or https URL, or a file path',
    parse: (text) => text,
  },
  ctListKey: {
    name: 'DOMAINDEX_CT_LIST_KEY',
    defaultText: '',
    meaning:
      'A file with the public key (PEM) that signs that list. The signature is beside the list, with the ending ' +
      '`.sig`. Without a key, the list is not verified.',
    allowed: 'a file path',
    parse: (text) => (text === '' ? null : text),
  },
  ctStartBack: {
    name: 'DOMAINDEX_CT_START_BACK',
    defaultText: '10000',
    meaning: 'How many entries before the end of a certificate log reading begins, when the log is read first.',
    allowed: 'a whole number from 1 to 100000000',
    parse: (text) => parseWholeNumber(text, 1, 100_000_000),
  },
  ctCertificates: {
    name: 'DOMAINDEX_CT_CERTIFICATES',
    defaultText: 'off',
    meaning:
      'Whether the certificates of logs are stored too, and not only the domains of their names. All logs together add ' +
      'gigabytes a day (docs/scaling.md).',
    allowed: 'on or off',
    parse: parseSwitch,
  },
  radarToken: {
    name: 'DOMAINDEX_RADAR_TOKEN',
    defaultText: '',
    meaning: 'A token of Cloudflare that may read Radar, for `domaindex fetch list radar`.',
    allowed: 'a text',
    isSecret: true,
    parse: (text) => (text === '' ? null : text),
  },
}

/** The origin of a base URL. It must use TLS or be on this machine, because it receives a password. */
function parseBaseUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, origin } = new URL(text)
  const isLoopback = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  const fits = protocol === 'https:' || (protocol === 'http:' && isLoopback)
  return fits && text.replace(/\/$/, '') === origin ? origin : undefined
}
