/** The commands in docs/investigating.md print what the page shows. */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { after, test } from 'node:test'
import { folderOf, outcomeOf } from '../cli/run.ts'
import { makeWorld } from '../spec/world.ts'
import { readPage, sections } from './markdown.ts'

const noCurl = spawnSync('curl', ['--version']).status === 0 ? false : 'there is no curl'

const page = readPage('investigating.md')
const { run } = folderOf({ after })
const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
for (const line of readPage('investigating.jsonl').trim().split('\n')) await world.ingest(JSON.parse(line))
const env = { DOMAINDEX_SERVER: world.address, DOMAINDEX_TOKEN: token }

for (const [title, text] of sections(page, 3)) {
  const [, command = '', output] = /```sh\n([^`]+)```\n\n```\n([^`]*)```/.exec(text) ?? []
  const isOwn = command.startsWith('npx domaindex ')
  test(title, { skip: isOwn ? false : noCurl }, async () => {
    const { stdout, stderr, code } = isOwn
      ? await run(command.trim().split(' ').slice(2), { env })
      : await outcomeOf(spawn('sh', ['-c', command], { env: { ...process.env, ...env } }))
    assert.deepEqual([stdout, code], [output, 0], stderr)
  })
}

test('the page has thirteen questions, and its list names them', () => {
  const numbers = [...sections(page, 3).keys()].map((title) => Number.parseInt(title, 10))
  assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
})
