/** Tests that every setting, command, file and heading that deploy/ and the documents about it name exists. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { SETTINGS } from '../../src/config/settings.ts'
import { commandFault, DEPLOY_FILES, ROOT, readText, settingFault } from './deployment.ts'

/** Documents whose commands a reader types to install domaindex. */
const DOCUMENTS = ['docs/install.md', 'docs/scaling.md']
/** A line that runs domaindex, after what may be in front of it: a unit's key, another program, settings, a path. */
const COMMAND =
  /^\s*(?:ExecStart=)?(?:sudo (?:-\S+ \S+ )*|docker .* exec \S+ |docker exec \S+ |npx |\/bin\/sh .*exec )?(?:[A-Z_]+=\S+ )*(?:[\w/]*\/)?domaindex ([a-z][^#'"|&><]*)/
const NAMES = new Set(Object.values(SETTINGS).map(({ name }) => name))

test('every YAML and JSON file of deploy/ can be parsed', () => {
  const yaml = DEPLOY_FILES.filter((path) => /\.ya?ml$/.test(path))
  const faults = yaml.flatMap((path) =>
    parseAllDocuments(readText(path), { merge: true }).flatMap(({ errors, warnings }) =>
      [...errors, ...warnings].map(({ message }) => `${path}: ${message}`),
    ),
  )
  assert.deepEqual(faults, [])
  assert.ok(yaml.length >= 5)
  for (const path of DEPLOY_FILES.filter((each) => each.endsWith('.json'))) JSON.parse(readText(path))
})

for (const path of [...DEPLOY_FILES, ...DOCUMENTS]) {
  const text = readText(path)

  test(`${path}: every DOMAINDEX_ variable is a setting`, () => {
    const found = [...text.matchAll(/\bDOMAINDEX_\w+/g)].map(([name]) => name)
    assert.deepEqual(
      found.filter((name) => !NAMES.has(name)),
      [],
    )
  })

  test(`${path}: every assigned setting has an allowed value`, () => {
    const assigned = [...text.matchAll(/^#?(?:export |ENV )?(DOMAINDEX_\w+)=([^\s"]*)/gm)]
    assert.deepEqual(
      assigned.flatMap(([, name, value]) => settingFault(name!, value!) ?? []),
      [],
    )
  })

  test(`${path}: every command exists with its options`, () => {
    assert.deepEqual(
      commandsIn(path, text).flatMap((command) => commandFault(command.split(/\s+/)) ?? []),
      [],
    )
  })

  test(`${path}: every file of the project that it names exists`, () => {
    const named = [...text.matchAll(/(?<![\w/.-])((?:deploy|docs|test)\/[\w./-]*\w)(?![\w*])/g)].map(
      ([, each]) => each!,
    )
    assert.deepEqual(
      named.filter((each) => !existsSync(join(ROOT, each)) && each !== 'deploy/compose/.env'),
      [],
    )
  })
}

/** The commands of domaindex without the program's name: of shell blocks in a document, of all lines in a file. */
function commandsIn(path: string, text: string): string[] {
  const blocks = path.endsWith('.md') ? [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!) : [text]
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
  return lines.flatMap((line) => COMMAND.exec(line)?.[1]?.trim() ?? [])
}

test('commands are found in units, in documents, and behind other programs', () => {
  const unit =
    "ExecStart=/opt/domaindex/bin/domaindex serve\nExecStart=/bin/sh -c 'exec /opt/domaindex/bin/domaindex backup"
  assert.deepEqual(commandsIn('a.service', unit), ['serve', 'backup'])
  const document =
    'domaindex is\n```sh\nsudo -u domaindex \\\n  DOMAINDEX_PORT=1 domaindex check   # all\n```\ndomaindex has'
  assert.deepEqual(commandsIn('a.md', document), ['check'])
})

test('a wrong command, option, setting or value is found', () => {
  assert.equal(commandFault(['account', 'create', 'ann@example.com', '--plan', 'basic']), null)
  assert.equal(commandFault(['serve', '--crawl', '--resolver', '192.0.2.1']), null)
  assert.match(commandFault(['server'])!, /not a command/)
  assert.match(commandFault(['account', 'make'])!, /not a command/)
  assert.match(commandFault(['serve', '--fast'])!, /no option/)
  assert.match(commandFault([])!, /no command/)
  assert.equal(settingFault('DOMAINDEX_POOL', '4'), null)
  assert.match(settingFault('DOMAINDEX_POOL', 'many')!, /must be/)
  assert.match(settingFault('DOMAINDEX_POLL', '4')!, /not a setting/)
})
