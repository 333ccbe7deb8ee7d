/** The known paths and their methods. A requested path is compared with them and never parsed as a route. */

type KnownPath = { pattern: RegExp; methods: Set<string> }

export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>()

  /** Adds methods to a route. `:name` in the route matches one segment. */
  add(route: string, methods: string | readonly string[]): void {
    const pattern = new RegExp(`^${route.split('/').map(segmentPattern).join('/')}$`)
    const known = this.#paths.get(route) ?? { pattern, methods: new Set() }
    for (const method of [methods].flat()) known.methods.add(method)
    this.#paths.set(route, known)
  }

  /** The methods of a path; none if the path is unknown. */
  methodsOf(path: string): string[] {
    for (const { pattern, methods } of this.#paths.values()) if (pattern.test(path)) return [...methods]
    return []
  }
}

function segmentPattern(segment: string): string {
  return segment.startsWith(':') ? '[^/]+' : segment.replace(/[^\w-]/g, '\\$&')
}
