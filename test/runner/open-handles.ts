/**
 * Ends a process whose tests have ended but which something keeps alive: a server, a timer or a connection that a test
 * left open. Names the files after which there were more of these than before.
 */

/** Milliseconds from the end of the last test. */
const LIMIT_MS = 60_000

type Counts = ReadonlyMap<string, number>

/** What keeps the process alive at the start of each file, in their order. */
const starts: { file: string; counts: Counts }[] = []

function countResources(): Counts {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}

/** Call it at the start of each file. */
export function noteResources(file: string): void {
  starts.push({ file, counts: countResources() })
}

/** Call it after the last file. The timer alone does not keep the process alive. */
export function limitEnd(): void {
  const atEnd = countResources()
  setTimeout(() => {
    console.error(describeLeft(countResources(), atEnd))
    process.exit(1)
  }, LIMIT_MS).unref()
}

function describeLeft(left: Counts, atEnd: Counts): string {
  const first = starts[0]?.counts ?? new Map()
  const types = [...left.keys()].filter((type) => left.get(type)! > (first.get(type) ?? 0))
  const files = starts.filter(({ counts }, index) => {
    const next = starts[index + 1]?.counts ?? atEnd
    return types.some((type) => (next.get(type) ?? 0) > (counts.get(type) ?? 0))
  })
  const suspects = (files.length > 0 ? files : starts).map(({ file }) => file)
  return `All tests ended ${LIMIT_MS / 1_000} s ago, but the process does not. Still open: ${types.join(', ')}. Opened in: ${suspects.join(', ')}`
}
