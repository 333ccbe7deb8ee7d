/** `domaindex lookalikes` prints the names in the local store that imitate a brand. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { folderOf } from '../run.ts'

const EXAMPLE = new URL('../../../docs/example.jsonl', import.meta.url).pathname
const { run } = folderOf({ after })

before(async () => {
  assert.equal((await run(['import', '-'], { input: readFileSync(EXAMPLE, 'utf8') })).code, 0)
})

test('lookalikes come with their reasons and scores, and a list has one brand per line', async () => {
  const { stdout } = await run(['lookalikes', '--file', '-', '--csv', '--fields', 'query,name,score,reasons'], {
    input: 'examples.com\nneighbours.example\n',
  })
  assert.deepEqual(stdout.trim().split('\n'), [
    'query,name,score,reasons',
    'examples.com,example.com,62,plural omission',
    'examples.com,example.blog,52,plural omission suffix',
    'examples.com,example.shop,52,plural omission suffix',
    'neighbours.example,neighbour.example,64,plural omission',
  ])
})

test('a brand that has no lookalikes is refused with the reason', async () => {
  const { stderr, code } = await run(['lookalikes', 'hp.com'])
  assert.match(stderr, /The label "hp" of hp\.com is too short/)
  assert.notEqual(code, 0)
})
