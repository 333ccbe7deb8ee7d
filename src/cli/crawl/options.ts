/** The options of `crawl`, and their parsers. */

import { InvalidArgumentError } from 'commander'
import { type DnsServer, parseDnsServer } from '../../probe/dns/server.ts'
import { type AddressRange, parseAddressRange } from '../../probe/guard.ts'

/** The command-line options. */
export type CrawlOptions = {
  file?: string
  resolver: DnsServer[]
  allow: AddressRange[]
  out?: string
  parallel: number
  loop?: true
  status?: true
  json?: true
}

const MAX_PARALLEL = 10_000

export function collectServer(text: string, previous: DnsServer[]): DnsServer[] {
  const server = parseDnsServer(text)
  if (server === null) throw new InvalidArgumentError('It must be ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT.')
  return [...previous, server]
}

export function collectRange(text: string, previous: AddressRange[]): AddressRange[] {
  const range = parseAddressRange(text)
  if (range === null) throw new InvalidArgumentError('It must be an address or a range such as 10.0.0.0/8 or fd00::/8.')
  return [...previous, range]
}

export function parseParallel(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > MAX_PARALLEL) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_PARALLEL}.`)
  }
  return value
}
