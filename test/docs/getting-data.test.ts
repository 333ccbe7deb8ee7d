/** docs/getting-data.md has the table that its script computes, and its commands exist. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sourceTable } from '../../scripts/data-sources.ts'
import { createProgram } from '../../src/cli/program/program.ts'
import { readPage } from './markdown.ts'

const page = readPage('getting-data.md')

test('the table is that of the script', () => {
  assert.ok(page.includes(`\n${sourceTable()}\n`), 'run node scripts/data-sources.ts')
})

test('every command of the page exists, with its options', async () => {
  const program = await createProgram(null)
  const commands = [...page.matchAll(/^npx domaindex ([^#\n]+)/gm)].map(([, line]) => line!.trim().split(/\s+/))
  assert.ok(commands.length > 8)
  for (const [name, ...rest] of commands) {
    const command = program.commands.find((each) => each.name() === name)!
    const chosen = command.commands.find((each) => each.name() === rest[0]) ?? command
    const options = chosen.options.map(({ long }) => long)
    for (const word of rest.filter((each) => each.startsWith('--')))
      assert.ok(options.includes(word), `${name} ${word}`)
  }
})
