/** Finds circles of imports between files. */

import type { Source } from './source.ts'

/** One circle for every group of files that reach each other, each from its first file by name back to it. A file that imports itself is one. */
export function circles(sources: Source[]): string[][] {
  const targets = new Map(sources.map(({ path, imports }) => [path, imports.map(({ target }) => target).sort()]))
  const found: string[][] = []
  const reported = new Set<string>()
  for (const path of [...targets.keys()].sort()) {
    const circle = reported.has(path) ? null : wayBack(path, targets)
    if (circle === null) continue
    found.push(circle)
    for (const each of circle) reported.add(each)
  }
  return found
}

/** The shortest way from a file over its imports back to it. */
function wayBack(start: string, targets: Map<string, string[]>): string[] | null {
  const ways = [[start]]
  const seen = new Set<string>()
  for (const way of ways) {
    for (const target of targets.get(way.at(-1) ?? start) ?? []) {
      if (target === start) return [...way, start]
      if (seen.has(target)) continue
      seen.add(target)
      ways.push([...way, target])
    }
  }
  return null
}
