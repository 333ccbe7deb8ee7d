/**
 * A process that reads the facts of random names through the store, twice. Arguments: store URL, names, seed, count.
 */

import { openStore } from '../../src/store/open.ts'
import { quantile } from '../measure/rounds.ts'
import { randomInt, seededRandom } from '../world/random.ts'
import { domainNameAt } from '../world/world.ts'

/** Times in microseconds. */
export type LatencyQuantiles = { p50: number; p99: number }
export type LookupResult = { cold: LatencyQuantiles; warm: LatencyQuantiles; missing: number }

const [, , url, names, seed, count] = process.argv
if (url !== undefined)
  console.log(JSON.stringify(await measureLookups(url, Number(names), Number(seed), Number(count))))

async function measureLookups(url: string, names: number, seed: number, count: number): Promise<LookupResult> {
  const world = { seed, names, text: false }
  const random = seededRandom(seed, 3, 77)
  const chosen = Array.from({ length: count }, () => domainNameAt(world, randomInt(random, names)))
  const store = await openStore(url, { access: 'read', ledger: 'own', secret: null })
  let missing = 0
  const round = async (): Promise<LatencyQuantiles> => {
    const times: number[] = []
    for (const name of chosen) {
      const startedAt = performance.now()
      if ((await store.facts.lookup(name)) === null) missing++
      times.push((performance.now() - startedAt) * 1000)
    }
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
  }
  const cold = await round()
  const warm = await round()
  await store.close()
  return { cold, warm, missing }
}
