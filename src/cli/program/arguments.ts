/** Parses arguments and options, and reads a secret that is no argument. */

import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { InvalidArgumentError } from 'commander'
import { CommandFault } from '../../config/command-fault.ts'
import { SETTINGS, type Settings } from '../../config/settings.ts'
import { type Day, parseDay } from '../../values/time.ts'

/** The maximum number of bytes that are read from standard input. */
const MAX_INPUT_BYTES = 4_096

/** Throws InvalidArgumentError if the text is not a day. */
export function parseDayArgument(text: string): Day {
  const day = parseDay(text)
  if (day === null) throw new InvalidArgumentError('It must be a day such as 2026-11-20.')
  return day
}

/** The parser of the option. It throws if the setting does not allow the text. */
export function settingParser<Key extends 'host' | 'port'>(key: Key): (text: string) => Settings[Key] {
  return (text) => {
    const value = SETTINGS[key].parse(text)
    if (value === undefined) throw new InvalidArgumentError(`It must be ${SETTINGS[key].allowed}.`)
    return value as Settings[Key]
  }
}

/** `name`: what the user is asked for. From a terminal, a new one is read twice. Throws CommandFault if both differ. */
export async function readSecret(name: string, isNew = true): Promise<string> {
  if (!process.stdin.isTTY) return readFirstLine()
  if (!isNew) return ask(`${name}: `)
  const first = await ask(`${name}: `)
  if ((await ask(`${name} again: `)) === first) return first
  throw new CommandFault('the two texts differ: run the command again')
}

/** Asks on the terminal. The output of readline, which echoes the keys, goes nowhere. */
async function ask(question: string): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true, historySize: 0 })
  const ended = new Promise<never>((_, reject) =>
    terminal.once('SIGINT', () => reject(new CommandFault('nothing was changed'))),
  )
  try {
    return await Promise.race([terminal.question(''), ended])
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}

async function readFirstLine(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk
    if (text.includes('\n') || text.length > MAX_INPUT_BYTES) break
  }
  const [line = ''] = text.split(/\r?\n/, 1)
  if (line === '') throw new CommandFault('there is no text on standard input: pipe it in, or run this on a terminal')
  return line
}
