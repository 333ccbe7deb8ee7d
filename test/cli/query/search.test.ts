/** `domaindex search` prints the names that a search finds in the local store. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { Command } from 'commander'
import { FILTERS } from '../../../src/api/endpoints/search/filters.ts'
import { queryCommand } from '../../../src/cli/query/commands.ts'
import { folderOf } from '../run.ts'

const EXAMPLE = new URL('../../../docs/example.jsonl', import.meta.url).pathname
const { run } = folderOf({ after })

before(async () => {
  assert.equal((await run(['import', '-'], { input: readFileSync(EXAMPLE, 'utf8') })).code, 0)
})

test('search takes texts, patterns and expressions as they are, and filters', async () => {
  const names = async (...args: string[]) => {
    const { stdout } = await run(['search', ...args, '--fields', 'query,name'])
    return stdout.trim().split('\n')
  }
  assert.deepEqual(await names('*ample.c*', '/^neigh/'), [
    '{"query":"*ample.c*","name":"example.com"}',
    '{"query":"/^neigh/","name":"neighbour.example"}',
  ])
  assert.deepEqual(await names('example', '--tld', 'com'), ['{"query":"example","name":"example.com"}'])
  assert.deepEqual(await names('*.example', '--ip', '198.51.100.0/24', '--limit', '1'), [
    '{"query":"*.example","name":"neighbour.example"}',
  ])
})

test('a page continues with its filters, and a refused search says how to narrow it', async () => {
  const page = await run(['search', 'example', '--has-website', 'yes', '--limit', '1', '--json'])
  assert.match(page.stderr, /continue with --has-website yes --next /)
  const refused = await run(['search', 'a*b'])
  assert.match(refused.stderr, /has no 3 fixed characters in a row/)
  assert.notEqual(refused.code, 0)
})

test('search has an option for each filter of the API', () => {
  const command = new Command('search')
  queryCommand('search')(command)
  const names = command.options.map((option) => option.name().replaceAll('-', '_'))
  assert.deepEqual(
    names.filter((name) => (FILTERS as string[]).includes(name)),
    FILTERS,
  )
})
