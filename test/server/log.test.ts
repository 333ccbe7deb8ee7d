/** The log on standard error: every line arrives, whole and in order, however the process ends. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'

const MODULE = JSON.stringify(new URL('../../src/server/log.ts', import.meta.url).href)
/** Some lines are longer than a write to a pipe may be, and some are in characters of several bytes. */
const LINES = 400
const messageOf = (line: number): string => `${line} ${'é'.repeat(line % 7 === 0 ? 3_000 : line % 90)}`

/** Logs half of the lines in one iteration of the event loop and the rest in the next one, then ends as `end` says. */
const programOf = (end: string): string => `
  import { setImmediate } from 'node:timers/promises'
  import { openLog } from ${MODULE}
  const { log, flush } = openLog('info')
  const messageOf = ${messageOf}
  for (let line = 0; line < ${LINES / 2}; line++) log.info(messageOf(line))
  await setImmediate()
  for (let line = ${LINES / 2}; line < ${LINES}; line++) log.info(messageOf(line))
  ${end}`

suite('the log of a process', () => {
  for (const [how, end] of [
    ['flushes the log and exits', 'flush(); process.exit(0)'],
    ['ends by itself', 'setTimeout(() => {}, 300)'],
    ['exits at once', 'process.exit(0)'],
    ['throws what nothing catches', "throw new Error('not caught')"],
    ['logs a fatal message and kills itself', "log.fatal('end'); process.kill(process.pid, 'SIGKILL')"],
  ] as const)
    test(`that ${how} has every line`, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', programOf(end)], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const [output] = await Promise.all([text(child.stderr), once(child, 'close')])
      const logged = output.split('\n').filter((line) => line.startsWith('{"level":30'))
      assert.deepEqual(
        logged.map((line) => JSON.parse(line).msg),
        Array.from({ length: LINES }, (_, line) => messageOf(line)),
      )
    })
})
