/** The commands of the documents exist where their reader is: in a checkout, only `npx domaindex` does. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createProgram } from '../../src/cli/program/program.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const pages = globSync(['*.md', '{docs,client,deploy,lab}/*.md'], { cwd: ROOT }).map((name) => ({
  name,
  text: readFileSync(`${ROOT}/${name}`, 'utf8'),
}))
/** What a page about an installed package says. */
const CHECKOUT_ADVICE = /In a checkout, run\s(?:every command as )?`npx domaindex COMMAND`/

/** The lines of the shell blocks of a page. */
const shellLines = (text: string): string[] =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block]) => block!.split('\n'))

test('the commands of a page begin with npx, unless it is about an installation and says what to write in a checkout', () => {
  assert.ok(pages.length > 15, 'the documents are found')
  for (const { name, text } of pages) {
    const bare = shellLines(text).filter((line) => /(?:^|[|;&(] ?|^[A-Z_]+=\S+ )domaindex [a-z]/.test(line))
    if (!CHECKOUT_ADVICE.test(text)) assert.deepEqual(bare, [], name)
  }
})

test('the commands of the documents are commands of the program', async () => {
  const { commands } = await createProgram([])
  const known = ['help', ...commands.map((command) => command.name())]
  const used = pages.flatMap(({ text }) =>
    shellLines(text).flatMap((line) => [...line.matchAll(/\bnpx domaindex ([a-z-]+)/g)].map(([, name]) => name!)),
  )
  assert.ok(used.length > 50)
  assert.deepEqual(
    used.filter((name) => !known.includes(name)),
    [],
  )
})
