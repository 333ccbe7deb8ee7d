/** The addresses of hosts during one visit: asked once, vetted each time a connection is made. */

import { type Address, family, parseAddress } from '../words/address.ts'
import type { Name } from '../words/name.ts'
import type { Resolver } from './dns.ts'
import type { Guard } from './guard.ts'
import type { Reach } from './http-dial.ts'
import type { OptOut } from './opt-out.ts'
import type { Answer, Vetted } from './visit.ts'

/** `unknown`: a family was not asked for a reason of ours. */
type Addresses = { of4: readonly Address[]; of6: readonly Address[]; unknown: boolean }

const OPTED_OUT: Addresses = { of4: [], of6: [], unknown: true }

/** At most `most` addresses of a host are tried. Hosts that are opted out are neither asked for nor tried. */
type HostAddressesOptions = { resolver: Resolver; guard: Guard; most: number; optOut: Pick<OptOut, 'hasName'> | null }

export class HostAddresses {
  readonly #options: HostAddressesOptions
  readonly #known = new Map<Name, Promise<Addresses>>()

  constructor(options: HostAddressesOptions) {
    this.#options = options
  }

  /** Spares the questions for a host whose addresses are known, of one family alone where `unknown` is true. */
  know(host: Name, addresses: readonly Address[], unknown: boolean): void {
    this.#known.set(host, Promise.resolve({ ...byFamily(addresses), unknown }))
  }

  /** Whether the host has an address, or may have one. */
  async has(host: Name): Promise<boolean> {
    const { of4, of6, unknown } = await this.#ask(host)
    return of4.length > 0 || of6.length > 0 || unknown
  }

  /** Where the host may be connected to, the families in turn. */
  async reach(host: Name, port: 80 | 443): Promise<Reach> {
    const { guard, most } = this.#options
    const { of4, of6, unknown } = await this.#ask(host)
    const doors: Vetted[] = []
    let barred = unknown
    for (let index = 0; index < Math.max(of4.length, of6.length); index++) {
      for (const address of [of4[index], of6[index]]) {
        if (address === undefined || doors.length === most) continue
        const door = guard.vet(address, port)
        if (door === null) barred = true
        else doors.push(door)
      }
    }
    return { doors, barred }
  }

  #ask(host: Name): Promise<Addresses> {
    const { resolver, optOut } = this.#options
    if (optOut?.hasName(host)) return Promise.resolve(OPTED_OUT)
    const known = this.#known.get(host)
    if (known !== undefined) return known
    const asked = Promise.all([resolver.ask(host, 'A'), resolver.ask(host, 'AAAA')]).then((answers) => ({
      ...byFamily(answers.flatMap(addressesOf)),
      unknown: answers.includes(null),
    }))
    this.#known.set(host, asked)
    return asked
  }
}

/** The addresses that an answer to A or AAAA holds. */
export function addressesOf(answer: Answer | null | undefined): Address[] {
  if (answer?.outcome !== 'records') return []
  return answer.records.flatMap((record) => (typeof record === 'string' ? (parseAddress(record) ?? []) : []))
}

function byFamily(addresses: readonly Address[]): Pick<Addresses, 'of4' | 'of6'> {
  const { of4 = [], of6 = [] } = Object.groupBy(addresses, (address) => `of${family(address)}` as const)
  return { of4, of6 }
}
