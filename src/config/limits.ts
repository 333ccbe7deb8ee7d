/** The settings of what clients may ask before their token is looked at: a part of the table of all settings. */

import { isAddressRange, parseList, parseWholeNumber, type Setting } from './parse.ts'

export type LimitSettings = {
  /** Connections that are open at once; 0: any number. */
  connections: number
  /** Of one client address. */
  clientConnections: number
  /** Requests a second of one client address, in each worker. */
  clientRequests: number
  /** Failed authentications a minute of one client address, in each worker. */
  clientFailures: number
  /** Addresses and ranges without the limits of a client address. */
  clientExempt: readonly string[]
}

const COUNT_FORMAT = 'a whole number from 0 to 999999, 0 for no limit'

export const LIMIT_SETTINGS: { readonly [Key in keyof LimitSettings]: Setting<LimitSettings[Key]> } = {
  connections: {
    name: 'DOMAINDEX_CONNECTIONS',
    defaultText: '10000',
    meaning: 'How many connections a server has open at once, over all its workers; further ones are refused.',
    allowed: COUNT_FORMAT,
    parse: (text) => parseWholeNumber(text, 0, 999_999),
  },
  clientConnections: {
    name: 'DOMAINDEX_CLIENT_CONNECTIONS',
    defaultText: '1000',
    meaning:
      'How many of them one client address may have (of IPv6 a /64), over all workers. Trusted proxies may have any number.',
    allowed: COUNT_FORMAT,
    parse: (text) => parseWholeNumber(text, 0, 999_999),
  },
  clientRequests: {
    name: 'DOMAINDEX_CLIENT_REQUESTS',
    defaultText: '2000',
    meaning:
      'How many requests a second one client address may send (of IPv6 a /64), documents and refused ones included. Each worker counts for itself.',
    allowed: COUNT_FORMAT,
    parse: (text) => parseWholeNumber(text, 0, 999_999),
  },
  clientFailures: {
    name: 'DOMAINDEX_CLIENT_FAILURES',
    defaultText: '100',
    meaning:
      'How many answers 401 a client address may get a minute (of IPv6 a /64); after that tokens which were not used just before are not looked at. Each worker counts for itself.',
    allowed: COUNT_FORMAT,
    parse: (text) => parseWholeNumber(text, 0, 999_999),
  },
  clientExempt: {
    name: 'DOMAINDEX_CLIENT_EXEMPT',
    defaultText: '127.0.0.0/8,::1',
    meaning: 'The addresses without these three limits of a client address; by default this machine itself.',
    allowed: 'addresses and ranges separated by commas, such as 10.0.0.0/8,::1, or none',
    parse: (text) => (text === 'none' ? [] : parseList(text, isAddressRange)),
  },
}
