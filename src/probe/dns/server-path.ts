/** The path to each resolver: its concurrency limiter and its EDNS support. Probes and self-checks share it. */

import { DnsConcurrencyLimiter } from './concurrency-limiter.ts'
import { EdnsSupport } from './edns.ts'
import type { DnsServer } from './server.ts'

export type DnsServerPath = { readonly limiter: DnsConcurrencyLimiter; readonly edns: EdnsSupport }

export class DnsServerPaths {
  readonly #paths = new Map<string, DnsServerPath>()
  readonly #makeLimiter: () => DnsConcurrencyLimiter

  constructor(makeLimiter = () => new DnsConcurrencyLimiter()) {
    this.#makeLimiter = makeLimiter
  }

  of({ address, port }: DnsServer): DnsServerPath {
    const key = `${address} ${port}`
    const path = this.#paths.get(key) ?? { limiter: this.#makeLimiter(), edns: new EdnsSupport() }
    this.#paths.set(key, path)
    return path
  }
}
