/** The log on standard error: every line arrives, whole and in order, however the process ends. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'

const MODULE = JSON.stringify(new URL('../../src/server/log.ts', import.meta.url).href)
/** More than a pipe holds. Some lines are longer than a write to a pipe may be, and some characters have several bytes. */
const MANY = {
  count: 400,
  message: (line: number): string => `${line} ${'é'.repeat(line % 7 === 0 ? 3_000 : line % 90)}`,
}
/** Less than what makes the destination begin a write, so that all lines are still in the process when it ends. */
const FEW = { count: 12, message: (line: number): string => `${line} é` }

/** Logs half of the lines in one iteration of the event loop and the rest in the next one, then ends as `end` says. */
const programOf = ({ count, message }: typeof FEW, end: string): string => `
  import { setImmediate } from 'node:timers/promises'
  import { openLog } from ${MODULE}
  const { log, flush } = openLog('info')
  const message = ${message}
  for (let line = 0; line < ${count / 2}; line++) log.info(message(line))
  await setImmediate()
  for (let line = ${count / 2}; line < ${count}; line++) log.info(message(line))
  ${end}`

suite('the log of a process', () => {
  for (const [how, lines, end] of [
    ['ends by itself', MANY, ''],
    ['flushes the log and exits', FEW, 'flush(); process.exit(0)'],
    ['exits at once', FEW, 'process.exit(0)'],
    ['throws what nothing catches', FEW, "throw new Error('not caught')"],
    ['logs a fatal message and kills itself', FEW, "log.fatal('end'); process.kill(process.pid, 'SIGKILL')"],
  ] as const)
    test(`that ${how} has every line`, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', programOf(lines, end)], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const [output] = await Promise.all([text(child.stderr), once(child, 'close')])
      const logged = output.split('\n').filter((line) => line.startsWith('{"level":30'))
      assert.deepEqual(
        logged.map((line) => JSON.parse(line).msg),
        Array.from({ length: lines.count }, (_, line) => lines.message(line)),
      )
    })
})
