/** How the options of a crawl are read. */

import { InvalidArgumentError } from 'commander'
import { parseServer, type Server } from '../../crawl/dns.ts'
import { parseRange, type Range } from '../../crawl/guard.ts'

const MOST_PARALLEL = 10_000

export function addServer(text: string, before: Server[]): Server[] {
  const server = parseServer(text)
  if (server === null) throw new InvalidArgumentError('It must be ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT.')
  return [...before, server]
}

export function addRange(text: string, before: Range[]): Range[] {
  const range = parseRange(text)
  if (range === null) throw new InvalidArgumentError('It must be an address or a range such as 10.0.0.0/8 or fd00::/8.')
  return [...before, range]
}

export function readParallel(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > MOST_PARALLEL) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST_PARALLEL}.`)
  }
  return value
}
