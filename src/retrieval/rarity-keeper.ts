/** The rarities that a process goes by: learnt when first asked for, and again when the index has moved on. */

import type { Rarities } from '../similar/rarities.ts'
import type { Segment, Similar } from '../store/similar.ts'
import { learn } from './learn.ts'

/** Learning again takes at most this share of the time. */
const SHARE = 1 / 50

export type RarityKeeper = {
  /** The rarities as last learnt; waits only where none were. */
  now(): Promise<Rarities>
}

/** `milliseconds`: a clock that never goes back. */
export function keepRarities(
  similar: Pick<Similar, 'segments' | 'frequencies'>,
  milliseconds: () => number,
): RarityKeeper {
  let [known, key, rest]: [Rarities | null, string, number] = [null, '', 0]
  let learning: Promise<Rarities> | null = null
  async function again(segments: readonly Segment[]): Promise<Rarities> {
    const began = milliseconds()
    known = await learn(similar, segments)
    key = keyOf(segments)
    rest = milliseconds() + (milliseconds() - began) / SHARE
    return known
  }
  return {
    async now() {
      if (learning === null && milliseconds() >= rest) {
        const segments = await similar.segments()
        if (learning === null && (known === null || keyOf(segments) !== key)) {
          learning = again(segments).finally(() => {
            learning = null
          })
          learning.catch(() => {}) // whoever waits for it hears; others go on with what is known
        }
      }
      return known ?? (learning as Promise<Rarities>)
    },
  }
}

function keyOf(segments: readonly Segment[]): string {
  return segments.map(({ segment }) => segment).join(' ')
}
