/** A made-up internet for the simulation: what a visit of a name finds at a time, and who visits whom. */

import type { DnsProbeResult, ProbeResult } from '../../src/probe/probe-result.ts'
import { type DomainName, parseName } from '../../src/values/domain-name.ts'
import { type IpAddress, parseAddress } from '../../src/values/ip-address.ts'
import type { Instant } from '../../src/values/time.ts'
import { mix } from '../world/random.ts'

const DAY = 86_400
/** Of 100 names, so many behave in these ways; the others never change. */
const WAYS = { missing: 4, failing: 3, flickering: 3, rotating: 10, changing: 20 } as const
type Way = keyof typeof WAYS | 'steady'

/** Names whose addresses are those of large hosting companies, of 100, and how many such companies there are. */
const HOSTED = 40
const COMPANIES = 100

export function nameOf(index: number): DomainName {
  return parseName(`n${index}.example`)!
}

export function indexOf(name: DomainName): number {
  return Number.parseInt(name.slice(1), 10)
}

function wayOf(index: number): Way {
  let place = mix(index) % 100
  for (const [way, share] of Object.entries(WAYS)) {
    if (place < share) return way as Way
    place -= share
  }
  return 'steady'
}

/** What is found, made up of the name and the time alone. `day` counts from 1970. */
export function visitOf(name: DomainName, at: Instant, nonce: number): ProbeResult {
  const index = indexOf(name)
  return { domain: name, at, dns: dnsOf(index, wayOf(index), Math.floor(at / DAY), nonce), web: null }
}

function dnsOf(index: number, way: Way, day: number, nonce: number): DnsProbeResult {
  if (way === 'missing') return { A: { outcome: 'nxdomain' }, AAAA: { outcome: 'nxdomain' } }
  if (way === 'failing' || (way === 'flickering' && mix(index + day) % 4 === 0)) {
    return { A: { outcome: 'failed', why: 'servfail' }, AAAA: { outcome: 'failed', why: 'servfail' } }
  }
  const records = (...list: string[]) => ({ outcome: 'records' as const, records: list, aliases: [] })
  const epoch = way === 'changing' ? Math.floor((day + index) / 15) : 0
  const rotation = way === 'rotating' ? nonce % 4 : 0
  return {
    A: records(addressOf(index, epoch, rotation)),
    AAAA: records(),
    NS: records(`ns.host${index % COMPANIES}.example`),
  }
}

function addressOf(index: number, epoch: number, rotation: number): IpAddress {
  const seed = mix(index * 31 + epoch)
  if (seed % 100 < HOSTED) return parseAddress(`5.${seed % COMPANIES}.0.${1 + rotation}`)!
  const hash = mix(seed + rotation)
  return parseAddress(`${20 + (hash % 60)}.${(hash >> 8) & 255}.${(hash >> 16) & 255}.${1 + ((hash >>> 24) % 250)}`)!
}
