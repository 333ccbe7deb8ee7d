/**
 * A process that asks the store's port for the facts of names drawn at random, twice: argv is the store, names, seed,
 * count.
 */

import { openStore } from '../../src/store/open.ts'
import { quantile } from '../measure/measure.ts'
import { below, diceOf } from '../world/random.ts'
import { nameOf } from '../world/world.ts'

/** Microseconds. */
export type Asked = { p50: number; p99: number }
export type Looked = { cold: Asked; warm: Asked; missing: number }

const [, , url, names, seed, count] = process.argv
if (url !== undefined) console.log(JSON.stringify(await look(url, Number(names), Number(seed), Number(count))))

async function look(url: string, names: number, seed: number, count: number): Promise<Looked> {
  const world = { seed, names, text: false }
  const dice = diceOf(seed, 3, 77)
  const drawn = Array.from({ length: count }, () => nameOf(world, below(dice, names)))
  const store = await openStore(url, { access: 'read', ledger: 'own', secret: null })
  let missing = 0
  const round = async (): Promise<Asked> => {
    const times: number[] = []
    for (const name of drawn) {
      const begun = performance.now()
      if ((await store.facts.lookup(name)) === null) missing++
      times.push((performance.now() - begun) * 1000)
    }
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
  }
  const cold = await round()
  const warm = await round()
  await store.close()
  return { cold, warm, missing }
}
