/** What is known about the path to each resolver: how much it bears, and whether it lets EDNS through. Visits and self-checks share it. */

import { EdnsSupport } from './dns-edns.ts'
import { ConcurrencyLimiter } from './dns-limiter.ts'
import type { Server } from './dns-server.ts'

export type Path = { readonly limiter: ConcurrencyLimiter; readonly edns: EdnsSupport }

export class Paths {
  readonly #paths = new Map<string, Path>()
  readonly #makeLimiter: () => ConcurrencyLimiter

  constructor(makeLimiter = () => new ConcurrencyLimiter()) {
    this.#makeLimiter = makeLimiter
  }

  of({ address, port }: Server): Path {
    const key = `${address} ${port}`
    const path = this.#paths.get(key) ?? { limiter: this.#makeLimiter(), edns: new EdnsSupport() }
    this.#paths.set(key, path)
    return path
  }
}
