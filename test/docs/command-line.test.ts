/** The commands in docs/clients.md print what the page shows, and its table has the exit codes of the program. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { EXIT_CODES } from '../../src/cli/program/client-fault.ts'
import { folderOf, outcomeOf } from '../cli/run.ts'
import { readPage, sections, tableOf } from './markdown.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/domaindex.js', import.meta.url))
const EXAMPLE = fileURLToPath(new URL('../../docs/example.jsonl', import.meta.url))

const section = sections(readPage('clients.md'), 2).get('The command line')!
const { run, path, url } = folderOf({ after })

test('the commands print what the page shows', async () => {
  assert.equal((await run(['import', EXAMPLE])).code, 0)
  const commands = [...section.matchAll(/```sh\n([^`]+)```\n\n```\n([^`]+)```/g)]
  const others = [...section.matchAll(/```sh\n(npx domaindex (?:daily|completion) [^`]+)```/g)]
  assert.equal(commands.length + others.length, section.split('```sh').length - 1, 'each command has its output')
  for (const [, command, output] of commands) {
    const script = `npx() { shift; "${process.execPath}" "${LAUNCHER}" "$@"; }\n${command}`
    const env = { PATH: process.env.PATH, DOMAINDEX_STORE: url }
    const { stdout, code, stderr } = await outcomeOf(spawn('sh', ['-c', script], { cwd: path('.'), env }))
    assert.deepEqual([stdout, code], [output, 0], stderr)
  }
})

test('the table of exit codes is that of the program', () => {
  const expected = Object.values(EXIT_CODES).map(([code, meaning]) => [String(code), meaning])
  assert.deepEqual(tableOf(section, 'code'), expected)
})
