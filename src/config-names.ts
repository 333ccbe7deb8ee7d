/** The settings of where names come from: a part of the table of all settings. */

import type { Setting } from './config-read.ts'

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
    fallback: 'data/zones',
    meaning: 'The folder of what was registered and dropped on each day, and of the names of each zone.',
    may: 'the path of a folder',
    read: (text) => text,
  },
  inbox: {
    name: 'DOMAINDEX_INBOX',
    fallback: 'data/inbox',
    meaning: 'The folder that zones and lists of names are put in, to be picked up at night.',
    may: 'the path of a folder',
    read: (text) => text,
  },
  czdsUser: {
    name: 'DOMAINDEX_CZDS_USER',
    fallback: '',
    meaning: "The user name of an account at ICANN's CZDS, from which `domaindex fetch czds` takes zones.",
    may: 'a text',
    read: (text) => (text === '' ? null : text),
  },
  czdsPassword: {
    name: 'DOMAINDEX_CZDS_PASSWORD',
    fallback: '',
    meaning: 'The password of that account.',
    may: 'a text',
    isSecret: true,
    read: (text) => (text === '' ? null : text),
  },
  czdsAccounts: {
    name: 'DOMAINDEX_CZDS_ACCOUNTS',
    fallback: 'https://account-api.icann.org',
    meaning: 'Where that account is signed in to.',
    may: 'an https:// address without a path, or an http:// one of this machine (127.0.0.1, [::1], localhost)',
    read: readBase,
  },
  czdsZones: {
    name: 'DOMAINDEX_CZDS_ZONES',
    fallback: 'https://czds-api.icann.org',
    meaning: 'Where the zones are listed that the account may have.',
    may: 'an https:// address without a path, or an http:// one of this machine (127.0.0.1, [::1], localhost)',
    read: readBase,
  },
}

/** A password goes there: over TLS, or no farther than this machine. */
function readBase(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, origin } = new URL(text)
  const isNear = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  const fits = protocol === 'https:' || (protocol === 'http:' && isNear)
  return fits && text.replace(/\/$/, '') === origin ? origin : undefined
}
