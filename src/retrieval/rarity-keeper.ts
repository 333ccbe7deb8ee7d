/** The rarities that a process goes by: learnt when first asked for, and again when the index has moved on. */

import type { Rarities } from '../similar/rarities.ts'
import type { Segment, Similar } from '../store/similar.ts'
import { learn } from './learn.ts'

/** Learning again takes at most this share of the time. */
const SHARE = 1 / 50
/** With more than so many times the wordings it is learnt at once: rarities of few say little of many, and of none that no word weighs. */
const OUTGROWN = 2

type Source = Pick<Similar, 'segments' | 'frequencies'>

/** `isCurrent`: whether they are those of all segments that answer now. */
export type Learnt = { rarities: Rarities; isCurrent: boolean }

export type RarityKeeper = {
  /** The rarities as last learnt; waits only where none were, or there are more than twice as many wordings by now. */
  now(): Promise<Learnt>
}

/** What is learnt lacks less than this share of the wordings, those of segments that went meanwhile: with others it is begun anew. */
const LACKING = 1 / 100
/** So often, at most. */
const TRIES = 3

/** `milliseconds`: a clock that never goes back. */
export function keepRarities(similar: Source, milliseconds: () => number): RarityKeeper {
  let [known, key, rest]: [Rarities | null, string | null, number] = [null, null, 0]
  let learning: Promise<Rarities> | null = null
  async function again(): Promise<Rarities> {
    const began = milliseconds()
    const [learnt, whole] = await learnWhole(similar)
    ;[known, key] = [learnt, whole && keyOf(whole)]
    rest = milliseconds() + (milliseconds() - began) / SHARE
    return learnt
  }
  return {
    async now() {
      const segments = await similar.segments()
      const isOutgrown = known === null || OUTGROWN * known.wordings < wordingsOf(segments)
      if (learning === null && keyOf(segments) !== key && (isOutgrown || milliseconds() >= rest)) {
        learning = again().finally(() => {
          learning = null
        })
        learning.catch(() => {}) // whoever waits for it hears; others go on with what is known
      }
      const rarities = known !== null && !isOutgrown ? known : await (learning as Promise<Rarities>)
      return { rarities, isCurrent: keyOf(segments) === key }
    },
  }
}

/** What is learnt, and of which segments where none went before it had been read twice: then it may lack words. */
async function learnWhole(similar: Source): Promise<[Rarities, readonly Segment[] | null]> {
  for (let tries = 1; ; tries++) {
    const segments = await similar.segments()
    const learnt = await learn(similar, segments)
    const left = new Set((await similar.segments()).map(({ segment }) => segment))
    const gone = segments.filter(({ segment }) => !left.has(segment))
    if (gone.length === 0) return [learnt, segments]
    if (tries === TRIES || wordingsOf(gone) < LACKING * wordingsOf(segments)) return [learnt, null]
  }
}

function wordingsOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { wordings }) => sum + wordings, 0)
}

function keyOf(segments: readonly Segment[]): string {
  return segments.map(({ segment }) => segment).join(' ')
}
