/** The log on standard error: its lines arrive whole and in order, and a process never waits long for its reader. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite, type TestContext, test } from 'node:test'

const MODULE = JSON.stringify(new URL('../../src/server/log.ts', import.meta.url).href)
/** More than a pipe holds. Some lines are longer than a write to a pipe may be, and some characters have several bytes. */
const MANY = {
  count: 1_000,
  message: (line: number): string => `${line} ${'é'.repeat(line % 50 === 0 ? 3_000 : line % 40)}`,
}
/** More than a pipe holds, in short lines. */
const SHORT = { count: 1_000, message: (line: number): string => `${line} ${'é'.repeat(line % 90)}` }
/** Less than what makes the destination begin a write, so that all lines are still in the process when it ends. */
const FEW = { count: 12, message: (line: number): string => `${line} é` }

/** Logs half of the lines in one iteration of the event loop and the rest in the next one, then ends as `end` says. */
const programOf = ({ count, message }: typeof FEW, end: string): string => `
  import { setImmediate } from 'node:timers/promises'
  import { openLog } from ${MODULE}
  const { log, end } = openLog('info')
  const message = ${message}
  for (let line = 0; line < ${count / 2}; line++) log.info(message(line))
  await setImmediate()
  for (let line = ${count / 2}; line < ${count}; line++) log.info(message(line))
  ${end}`

const NODE = [process.execPath, '--input-type=module', '-e'] as const
const END = 'await end(); process.exit(0)'

function start(t: TestContext, program: string, stderr: 'pipe' | number = 'pipe'): ChildProcess {
  const child = spawn(NODE[0], [...NODE.slice(1), program], { stdio: ['ignore', 'ignore', stderr] })
  t.after(() => void child.kill('SIGKILL'))
  return child
}

function assertEveryLine(output: string, { count, message }: typeof FEW, times = 1): void {
  const logged = output.split('\n').filter((line) => line.startsWith('{"level":30'))
  const messages = logged.map((line) => JSON.parse(line) as { pid: number; msg: string })
  const byProcess = Map.groupBy(messages, ({ pid }) => pid)
  assert.equal(byProcess.size, times)
  for (const each of byProcess.values())
    assert.deepEqual(
      each.map(({ msg }) => msg),
      Array.from({ length: count }, (_, line) => message(line)),
    )
}

suite('the log of a process', () => {
  for (const [how, lines, end] of [
    ['ends by itself', MANY, ''],
    ['ends the log and exits', MANY, END],
    ['exits', FEW, 'process.exit(0)'],
    ['exits after a fatal message', FEW, "log.fatal('end'); process.exit(1)"],
    ['throws what nothing catches', FEW, "throw new Error('not caught')"],
  ] as const)
    test(`that ${how} has every line`, async (t) => {
      const child = start(t, programOf(lines, end))
      const [output] = await Promise.all([text(child.stderr!), once(child, 'close')])
      assertEveryLine(output, lines)
    })

  test('has every line in a file', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'domaindex-log-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = openSync(join(folder, 'log'), 'w')
    const child = start(t, programOf(MANY, END), file)
    closeSync(file)
    await once(child, 'close')
    assertEveryLine(readFileSync(join(folder, 'log'), 'utf8'), MANY)
  })

  test('does not keep it if nothing reads the log any more, or if a reader stops reading', async (t) => {
    const gone = start(t, programOf(MANY, END))
    gone.stderr!.destroy()
    const stuck = start(t, programOf(MANY, END))
    const exits = await Promise.all([gone, stuck].map((child) => once(child, 'exit')))
    assert.deepEqual(exits, [
      [0, null],
      [0, null],
    ])
  })

  test('does not mix with that of another process on the same pipe', async (t) => {
    const program = programOf(SHORT, END)
    const both = '{ "$@" & "$@" & wait; } 2>&1 | { sleep 0.5; cat; }' // until then, the pipe is full
    const shell = spawn('sh', ['-c', both, 'sh', ...NODE, program], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => void shell.kill('SIGKILL'))
    assertEveryLine(await text(shell.stdout), SHORT, 2)
  })
})
