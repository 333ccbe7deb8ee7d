/** Finds import cycles between files. */

import type { Source } from './source.ts'

/**
 * One cycle for each group of files that reach each other, from its first file by name back to it. A file may import
 * itself.
 */
export function importCycles(sources: Source[]): string[][] {
  const targets = new Map(sources.map(({ path, imports }) => [path, imports.map(({ target }) => target).sort()]))
  const found: string[][] = []
  const reported = new Set<string>()
  for (const path of [...targets.keys()].sort()) {
    const cycle = reported.has(path) ? null : shortestCycle(path, targets)
    if (cycle === null) continue
    found.push(cycle)
    for (const each of cycle) reported.add(each)
  }
  return found
}

/** The shortest path from a file along its imports back to it. Returns null if there is none. */
function shortestCycle(start: string, targets: Map<string, string[]>): string[] | null {
  const paths = [[start]]
  const visited = new Set<string>()
  for (const path of paths) {
    for (const target of targets.get(path.at(-1) ?? start) ?? []) {
      if (target === start) return [...path, start]
      if (visited.has(target)) continue
      visited.add(target)
      paths.push([...path, target])
    }
  }
  return null
}
