/** The common options of the benches: size, rounds, and the folder for their files. */

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { DEFAULT_ROUNDS } from './rounds.ts'

export type BenchOptions = {
  names: number
  rounds: number
  seconds: number
  folder: string | null
  only: string | null
}

/**
 * Parses `--names N --rounds N --seconds N --folder PATH --only PART`. If a folder is given, the bench keeps it and
 * reuses the files of an earlier run of the same size.
 */
export function readOptions(names: number, seconds = 5, rounds = DEFAULT_ROUNDS): BenchOptions {
  exitIfHelp(`--names N (${names}), --rounds N (${rounds}), --seconds N (${seconds}), --folder PATH, --only PART`)
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

/** If the bench was called with --help, prints the comment at its start, and its options, and exits. */
export function exitIfHelp(options: string): void {
  if (!process.argv.includes('--help')) return
  const [, comment = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(process.argv[1]!, 'utf8')) ?? []
  console.log(`${comment.replaceAll(/^ *\* ?/gm, '').trim()}\n\nOptions: ${options}`)
  process.exit()
}

/** Parses `--NAME VALUE` for the names of these defaults, as texts. Any other name is an error. */
export function readTexts<Name extends string>(defaults: Record<Name, string>): Record<Name, string> {
  const entries = Object.entries<string>(defaults)
  exitIfHelp(entries.map(([name, text]) => `--${name} (${text})`).join(', '))
  const options = Object.fromEntries(entries.map(([name, text]) => [name, { type: 'string', default: text } as const]))
  return parseArgs({ options }).values as Record<Name, string>
}
