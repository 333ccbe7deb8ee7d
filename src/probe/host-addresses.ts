/** The addresses of hosts during one visit: asked once, vetted each time a connection is made. */

import type { DomainName } from '../values/domain-name.ts'
import { addressFamily, type IpAddress, parseAddress } from '../values/ip-address.ts'
import type { Resolver } from './dns/resolver.ts'
import type { Guard } from './guard.ts'
import type { HostEndpoints } from './http/connect.ts'
import type { OptOutList } from './policy/opt-out.ts'
import type { DnsAnswer, VettedEndpoint } from './probe-result.ts'

/** `unknown`: a family was not asked for a reason of ours. */
type HostAddressSet = { ipv4: readonly IpAddress[]; ipv6: readonly IpAddress[]; isIncomplete: boolean }

const OPTED_OUT_ADDRESSES: HostAddressSet = { ipv4: [], ipv6: [], isIncomplete: true }

/** At most `most` addresses of a host are tried. Hosts that are opted out are neither asked for nor tried. */
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

  /** Spares the questions for a host whose addresses are known, of one family alone where `unknown` is true. */
  set(host: DomainName, addresses: readonly IpAddress[], isIncomplete: boolean): void {
    this.#byHost.set(host, Promise.resolve({ ...splitByFamily(addresses), isIncomplete: isIncomplete }))
  }

  /** Whether the host has an address, or may have one. */
  async has(host: DomainName): Promise<boolean> {
    const { ipv4: of4, ipv6: of6, isIncomplete: unknown } = await this.#resolve(host)
    return of4.length > 0 || of6.length > 0 || unknown
  }

  /** Where the host may be connected to, the families in turn. */
  async endpoints(host: DomainName, port: 80 | 443): Promise<HostEndpoints> {
    const { guard, maxAddresses } = this.#options
    const { ipv4: of4, ipv6: of6, isIncomplete: unknown } = await this.#resolve(host)
    const endpoints: VettedEndpoint[] = []
    let hasUnreachable = unknown
    for (let index = 0; index < Math.max(of4.length, of6.length); index++) {
      for (const address of [of4[index], of6[index]]) {
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

/** The addresses that an answer to A or AAAA holds. */
export function addressesInAnswer(answer: DnsAnswer | null | undefined): IpAddress[] {
  if (answer?.outcome !== 'records') return []
  return answer.records.flatMap((record) => (typeof record === 'string' ? (parseAddress(record) ?? []) : []))
}

function splitByFamily(addresses: readonly IpAddress[]): Pick<HostAddressSet, 'ipv4' | 'ipv6'> {
  const { of4 = [], of6 = [] } = Object.groupBy(addresses, (address) => `of${addressFamily(address)}` as const)
  return { ipv4: of4, ipv6: of6 }
}
