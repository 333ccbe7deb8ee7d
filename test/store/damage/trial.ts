/** One trial of damage: what `check` finds, what a repair mends, and whether the responses are those of the whole store. */

import type { Store } from '../../../src/store/port/store.ts'
import { checkAll } from '../check-all.ts'
import { allAnswers, wrongAnswers } from './all-answers.ts'
import { WORLD_QUESTIONS } from './damaged-world.ts'
import type { RowDamage } from './random-damage.ts'
import { repairAll } from './repair-all.ts'

export type Answers = Awaited<ReturnType<typeof allAnswers>>

/** A copy of the whole store. */
export type DamagedStore = {
  /** Returns false if the engine rejects the rows. */
  plant(damage: RowDamage): Promise<boolean>
  open(): Promise<Store>
  drop(): Promise<void>
}

/**
 * `rejected`: the store cannot be opened. `missed`: a response is wrong, and check finds nothing. `untouched`: check
 * finds nothing, and every response is right. `mended`: the responses are right after the repair. `misled`: nothing is
 * left after the repair, but a response is wrong. `left`: the repair names what it cannot mend. `failed`: it throws.
 */
export const VERDICTS = ['rejected', 'untouched', 'missed', 'mended', 'misled', 'left', 'failed'] as const
export type Verdict = (typeof VERDICTS)[number]
/** `wrong`: the questions with wrong responses. */
export type Outcome = { verdict: Verdict; wrong: string[]; faults: string[] }

export function answersOf(store: Store, listed: boolean): Promise<Answers> {
  return allAnswers(store, { ...WORLD_QUESTIONS, listed })
}

/** `whole`: the responses of the whole store, the listing included. */
export async function tryDamage(damaged: DamagedStore, whole: Answers): Promise<Outcome> {
  const store = await damaged.open().catch(() => null)
  if (store === null) return { verdict: 'rejected', wrong: [], faults: [] }
  try {
    const faults = (await checkAll(store)).faults.map(({ table, key, problem }) => `${table} ${key}: ${problem}`)
    if (faults.length === 0) {
      const wrong = wrongAnswers(whole, await answersOf(store, true))
      return { verdict: wrong.length > 0 ? 'missed' : 'untouched', wrong, faults }
    }
    const { left } = await repairAll(store)
    if (left.length > 0) return { verdict: 'left', wrong: [], faults: left.map(({ problem }) => problem) }
    const wrong = wrongAnswers(whole, await answersOf(store, true), { failing: true })
    return { verdict: wrong.length > 0 ? 'misled' : 'mended', wrong, faults }
  } catch (error) {
    return { verdict: 'failed', wrong: [], faults: [String((error as Error).stack).slice(0, 500)] }
  } finally {
    await store.close().catch(() => {})
  }
}
