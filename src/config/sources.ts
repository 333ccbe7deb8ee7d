/** The settings of where names come from: a part of the table of all settings. */

import type { Setting } from './parse.ts'

export type NamesSettings = {
  /** The folder of registrations. */
  zones: string
  /** The folder that zones and lists are put in. */
  inbox: string
  /** The account at CZDS. Null: there is none. */
  czdsUser: string | null
  czdsPassword: string | null
  /** Base URLs: of the API that gives tokens, and of the one that gives zones. */
  czdsAccounts: string
  czdsZones: string
}

export const NAMES_SETTINGS: { readonly [Key in keyof NamesSettings]: Setting<NamesSettings[Key]> } = {
  zones: {
    name: 'DOMAINDEX_ZONES',
    defaultText: 'data/zones',
    meaning: 'The folder of the names registered and dropped on each day, and of the names of each zone.',
    allowed: 'a folder path',
    parse: (text) => text,
  },
  inbox: {
    name: 'DOMAINDEX_INBOX',
    defaultText: 'data/inbox',
    meaning: 'The folder for zones and lists of names that scheduled jobs import.',
    allowed: 'a folder path',
    parse: (text) => text,
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
}

/** A password goes there: over TLS, or no farther than this machine. */
function parseBaseUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, origin } = new URL(text)
  const isNear = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  const fits = protocol === 'https:' || (protocol === 'http:' && isNear)
  return fits && text.replace(/\/$/, '') === origin ? origin : undefined
}
