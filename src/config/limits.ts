/** The settings of the limits that apply to a client before its token is checked. */

import { isAddressRange, parseList, parseWholeNumber, type Setting } from './parse.ts'

export type LimitSettings = {
  /** Open connections; 0: no limit. */
  connections: number
  /** Open connections of one client address. */
  clientConnections: number
  /** Requests per second of one client address, in each worker. */
  clientRequests: number
  /** Failed authentications per minute of one client address, in each worker. */
  clientFailures: number
  /** Addresses and ranges to which these limits do not apply. */
  clientExempt: readonly string[]
}

const COUNT_FORMAT = 'a whole number from 0 to 999999, 0 for no limit'

export const LIMIT_SETTINGS: { readonly [Key in keyof LimitSettings]: Setting<LimitSettings[Key]> } = {
  connections: {
    name: 'DOMAINDEX_CONNECTIONS',
    defaultText: '10000',
    meaning: 'The maximum number of open connections of a server, over all workers. Further connections are rejected.',
    allowed: COUNT_FORMAT,
    parse: (text) => parseWholeNumber(text, 0, 999_999),
  },
  clientConnections: {
    name: 'DOMAINDEX_CLIENT_CONNECTIONS',
    defaultText: '1000',
    meaning:
      'The maximum number of open connections of one client address (IPv6: a /64), over all workers. ' +
      'It does not apply to trusted proxies.',
    allowed: COUNT_FORMAT,
    parse: (text) => parseWholeNumber(text, 0, 999_999),
  },
  clientRequests: {
    name: 'DOMAINDEX_CLIENT_REQUESTS',
    defaultText: '2000',
    meaning:
      'The maximum number of requests per second from one client address (IPv6: a /64), including requests for ' +
      'documentation and rejected ones. Each worker counts separately.',
    allowed: COUNT_FORMAT,
    parse: (text) => parseWholeNumber(text, 0, 999_999),
  },
  clientFailures: {
    name: 'DOMAINDEX_CLIENT_FAILURES',
    defaultText: '100',
    meaning:
      'The maximum number of 401 responses per minute to one client address (IPv6: a /64). ' +
      'Above it, only tokens that were used recently are checked. Each worker counts separately.',
    allowed: COUNT_FORMAT,
    parse: (text) => parseWholeNumber(text, 0, 999_999),
  },
  clientExempt: {
    name: 'DOMAINDEX_CLIENT_EXEMPT',
    defaultText: '127.0.0.0/8,::1',
    meaning: 'The addresses to which the three limits per client address do not apply. The default is this machine.',
    allowed: 'addresses and ranges separated by commas, such as 10.0.0.0/8,::1, or none',
    parse: (text) => (text === 'none' ? [] : parseList(text, isAddressRange)),
  },
}
