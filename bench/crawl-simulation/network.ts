/** The simulated internet: what a probe of a name returns at a given time. */

import type { DnsProbeResult, ProbeResult } from '../../src/probe/probe-result.ts'
import { type DomainName, parseName } from '../../src/values/domain-name.ts'
import { type IpAddress, parseAddress } from '../../src/values/ip-address.ts'
import type { Instant } from '../../src/values/time.ts'
import { mixBits } from '../world/random.ts'

const DAY = 86_400
/** How many of 100 names behave in each of these ways. The others never change. */
const BEHAVIOUR_SHARES = { missing: 4, failing: 3, flickering: 3, rotating: 10, changing: 20 } as const
type Behaviour = keyof typeof BEHAVIOUR_SHARES | 'steady'

/** How many of 100 names have addresses of large hosting companies, and the number of those companies. */
const HOSTED_PERCENT = 40
const HOSTING_COMPANIES = 100

export function simulatedNameAt(index: number): DomainName {
  return parseName(`n${index}.example`)!
}

export function indexOfName(name: DomainName): number {
  return Number.parseInt(name.slice(1), 10)
}

function behaviourOf(index: number): Behaviour {
  let rest = mixBits(index) % 100
  for (const [behaviour, share] of Object.entries(BEHAVIOUR_SHARES)) {
    if (rest < share) return behaviour as Behaviour
    rest -= share
  }
  return 'steady'
}

/** Derives the probe result from the name and the time alone. */
export function probeResultOf(name: DomainName, at: Instant, nonce: number): ProbeResult {
  const index = indexOfName(name)
  return { domain: name, at, dns: dnsOf(index, behaviourOf(index), Math.floor(at / DAY), nonce), web: null }
}

function dnsOf(index: number, behaviour: Behaviour, day: number, nonce: number): DnsProbeResult {
  if (behaviour === 'missing') return { A: { outcome: 'nxdomain' }, AAAA: { outcome: 'nxdomain' } }
  if (behaviour === 'failing' || (behaviour === 'flickering' && mixBits(index + day) % 4 === 0)) {
    return { A: { outcome: 'failed', why: 'servfail' }, AAAA: { outcome: 'failed', why: 'servfail' } }
  }
  const records = (...list: string[]) => ({ outcome: 'records' as const, records: list, aliases: [] })
  const epoch = behaviour === 'changing' ? Math.floor((day + index) / 15) : 0
  const rotation = behaviour === 'rotating' ? nonce % 4 : 0
  return {
    A: records(addressOf(index, epoch, rotation)),
    AAAA: records(),
    NS: records(`ns.host${index % HOSTING_COMPANIES}.example`),
  }
}

function addressOf(index: number, epoch: number, rotation: number): IpAddress {
  const seed = mixBits(index * 31 + epoch)
  if (seed % 100 < HOSTED_PERCENT) return parseAddress(`5.${seed % HOSTING_COMPANIES}.0.${1 + rotation}`)!
  const hash = mixBits(seed + rotation)
  return parseAddress(`${20 + (hash % 60)}.${(hash >> 8) & 255}.${(hash >> 16) & 255}.${1 + ((hash >>> 24) % 250)}`)!
}
