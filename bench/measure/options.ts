/** The options of every bench: how large, how often, and where what it makes is kept. */

import { parseArgs } from 'node:util'
import { ROUNDS } from './measure.ts'

export type Options = { names: number; rounds: number; seconds: number; folder: string | null; only: string | null }

/**
 * Reads `--names N --rounds N --seconds N --folder PATH --only PART`. A folder that is named is kept, and what lies in
 * it from an earlier run of the same size is used again.
 */
export function readOptions(names: number, seconds = 5, rounds = ROUNDS): Options {
  const { values } = parseArgs({
    options: {
      names: { type: 'string', default: String(names) },
      rounds: { type: 'string', default: String(rounds) },
      seconds: { type: 'string', default: String(seconds) },
      folder: { type: 'string' },
      only: { type: 'string' },
    },
  })
  return {
    names: Number(values.names),
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    folder: values.folder ?? null,
    only: values.only ?? null,
  }
}
