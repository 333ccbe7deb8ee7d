/**
 * A process that reads the facts of random names, twice, on a connection of a server: mapped as it is opened, or not
 * mapped. Arguments: path of the facts, `mapped` or `unmapped`, names, seed, count.
 */

import { connectSqlite, readerCacheBytes } from '../../src/store/sqlite/database/connection.ts'
import { iterationReads } from '../../src/store/sqlite/database/read-iteration.ts'
import { sqliteFacts } from '../../src/store/sqlite/facts/facts.ts'
import { openLongPages } from '../../src/store/sqlite/facts/pages/long-pages.ts'
import { quantile } from '../measure/rounds.ts'
import { randomInt, seededRandom } from '../world/random.ts'
import { domainNameAt } from '../world/world.ts'

export type PageAccess = 'mapped' | 'unmapped'
/** Times in microseconds. */
export type LatencyQuantiles = { p50: number; p99: number }
export type LookupResult = { cold: LatencyQuantiles; warm: LatencyQuantiles; missing: number }

const [, , path, access, names, seed, count] = process.argv
if (path !== undefined) {
  const input = { names: Number(names), seed: Number(seed), count: Number(count) }
  console.log(JSON.stringify(await measureLookups(path, access as PageAccess, input)))
}

/** Returns null if a server would not map the file, and it is to be measured mapped. */
async function measureLookups(
  path: string,
  access: PageAccess,
  { names, seed, count }: { names: number; seed: number; count: number },
): Promise<LookupResult | null> {
  const world = { seed, names, text: false }
  const random = seededRandom(seed, 3, 77)
  const chosen = Array.from({ length: count }, () => domainNameAt(world, randomInt(random, names)))
  const database = connectSqlite(path, { readOnly: true, readsAtRandom: true })
  const { mmap_size } = database.prepare('pragma mmap_size').get() as { mmap_size: number }
  if (access === 'mapped' && mmap_size === 0) return null
  const cacheKibibytes = Math.floor(readerCacheBytes(process.availableMemory()) / 1024)
  if (access === 'unmapped') database.exec(`pragma mmap_size = 0; pragma cache_size = -${cacheKibibytes}`)
  const facts = sqliteFacts(database, iterationReads(database), openLongPages(path))
  let missing = 0
  const round = async (): Promise<LatencyQuantiles> => {
    const times: number[] = []
    for (const name of chosen) {
      const startedAt = performance.now()
      if ((await facts.lookup(name)) === null) missing++
      times.push((performance.now() - startedAt) * 1000)
    }
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
  }
  const cold = await round()
  const warm = await round()
  database.close()
  return { cold, warm, missing }
}
