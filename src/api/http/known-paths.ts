/** The paths that the server has, with the methods of each: a path that a client made up is compared with them, never parsed as a route. */

type KnownPath = { pattern: RegExp; methods: Set<string> }

export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>()

  /** Adds methods to a route; `:name` in it stands for one segment. */
  add(route: string, methods: string | readonly string[]): void {
    const pattern = new RegExp(`^${route.split('/').map(segmentPattern).join('/')}$`)
    const known = this.#paths.get(route) ?? { pattern, methods: new Set() }
    for (const method of [methods].flat()) known.methods.add(method)
    this.#paths.set(route, known)
  }

  /** The methods that a path may be asked with; none if there is no such path. */
  methodsOf(path: string): string[] {
    for (const { pattern, methods } of this.#paths.values()) if (pattern.test(path)) return [...methods]
    return []
  }
}

function segmentPattern(segment: string): string {
  return segment.startsWith(':') ? '[^/]+' : segment.replace(/[^\w-]/g, '\\$&')
}
