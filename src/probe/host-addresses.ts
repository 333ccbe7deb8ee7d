/** The addresses of hosts during one probe. They are resolved once, and vetted for each connection. */

import type { DomainName } from '../values/domain-name.ts'
import { addressFamily, type IpAddress, parseAddress } from '../values/ip-address.ts'
import type { Resolver } from './dns/resolver.ts'
import type { Guard } from './guard.ts'
import type { HostEndpoints } from './http/connect.ts'
import type { OptOutList } from './policy/opt-out.ts'
import type { DnsAnswer, VettedEndpoint } from './probe-result.ts'

/** `isIncomplete`: the addresses of a family are unknown for a local reason. */
type HostAddressSet = { ipv4: readonly IpAddress[]; ipv6: readonly IpAddress[]; isIncomplete: boolean }

const OPTED_OUT_ADDRESSES: HostAddressSet = { ipv4: [], ipv6: [], isIncomplete: true }

/** Tries at most `maxAddresses` addresses per host. Opted-out hosts are neither resolved nor tried. */
type HostAddressesOptions = {
  resolver: Resolver
  guard: Guard
  maxAddresses: number
  optOut: Pick<OptOutList, 'hasName'> | null
}

export class HostAddresses {
  readonly #options: HostAddressesOptions
  readonly #byHost = new Map<DomainName, Promise<HostAddressSet>>()

  constructor(options: HostAddressesOptions) {
    this.#options = options
  }

  /** Sets the known addresses of a host, so that it is not resolved. `isIncomplete`: those of a family are unknown. */
  set(host: DomainName, addresses: readonly IpAddress[], isIncomplete: boolean): void {
    this.#byHost.set(host, Promise.resolve({ ...splitByFamily(addresses), isIncomplete }))
  }

  /** Whether the host has an address or may have one. */
  async has(host: DomainName): Promise<boolean> {
    const { ipv4, ipv6, isIncomplete } = await this.#resolve(host)
    return ipv4.length > 0 || ipv6.length > 0 || isIncomplete
  }

  /** The endpoints of the host, alternating between the families. */
  async endpoints(host: DomainName, port: 80 | 443): Promise<HostEndpoints> {
    const { guard, maxAddresses } = this.#options
    const { ipv4, ipv6, isIncomplete } = await this.#resolve(host)
    const endpoints: VettedEndpoint[] = []
    let hasUnreachable = isIncomplete
    for (let index = 0; index < Math.max(ipv4.length, ipv6.length); index++) {
      for (const address of [ipv4[index], ipv6[index]]) {
        if (address === undefined || endpoints.length === maxAddresses) continue
        const endpoint = guard.vet(address, port)
        if (endpoint === null) hasUnreachable = true
        else endpoints.push(endpoint)
      }
    }
    return { endpoints, hasUnreachable }
  }

  #resolve(host: DomainName): Promise<HostAddressSet> {
    const { resolver, optOut } = this.#options
    if (optOut?.hasName(host)) return Promise.resolve(OPTED_OUT_ADDRESSES)
    const known = this.#byHost.get(host)
    if (known !== undefined) return known
    const resolving = Promise.all([resolver.resolve(host, 'A'), resolver.resolve(host, 'AAAA')]).then((answers) => ({
      ...splitByFamily(answers.flatMap(addressesInAnswer)),
      isIncomplete: answers.includes(null),
    }))
    this.#byHost.set(host, resolving)
    return resolving
  }
}

/** The addresses in an answer to A or AAAA. */
export function addressesInAnswer(answer: DnsAnswer | null | undefined): IpAddress[] {
  if (answer?.outcome !== 'records') return []
  return answer.records.flatMap((record) => (typeof record === 'string' ? (parseAddress(record) ?? []) : []))
}

function splitByFamily(addresses: readonly IpAddress[]): Pick<HostAddressSet, 'ipv4' | 'ipv6'> {
  const { ipv4 = [], ipv6 = [] } = Object.groupBy(addresses, (address) => `ipv${addressFamily(address)}` as const)
  return { ipv4, ipv6 }
}
