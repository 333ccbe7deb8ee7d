/** The exported names of the code: each exists once, and none uses a word that the glossary replaced. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseSync } from 'oxc-parser'

const ROOT = `${import.meta.dirname}/..`

/** The "not" column of the glossary (docs/glossary.md), as words of names. */
const REPLACED = (
  'eye eyes sight sights room rooms bell wish wishes asked beside trust bands doubt manners pace rests narrow meter purse ' +
  'permit permits books gate gates lane lanes outlet refusal refusals night nights deed deeds duty duties shelf wording ' +
  'wordings rarity rarities gone crew pulse hire hires tell told begun lest whoever'
).split(' ')

/** The words of `name`, in lower case: camelCase, kebab-case and CONSTANT_CASE taken apart. */
const wordsIn = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)

const paths = globSync('{src,web,lab,bench}/**/*.{ts,tsx}', { cwd: ROOT }).sort()

/** The names that a file declares and exports. */
const exportsOf = (path: string) =>
  parseSync(path, readFileSync(`${ROOT}/${path}`, 'utf8')).module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, localName: { name } }) =>
      moduleRequest === null && name !== null ? [name] : [],
    ),
  )

const names = paths.flatMap((path) => exportsOf(path).map((name) => ({ path, name })))

test('no exported name, file or folder uses a word that the glossary replaced', () => {
  const found = [...paths, ...names.map(({ path, name }) => `${path} ${name}`)]
  assert.deepEqual(
    found.filter((text) => wordsIn(text).some((word) => REPLACED.includes(word))),
    [],
  )
})

test('an exported name exists once in src/ (or once in each engine of the store) and once in bench/', () => {
  const inOne = names.filter(({ path }) => !path.startsWith('lab/'))
  const files = Map.groupBy(inOne, ({ path, name }) => `${path.split('/')[0]} ${name}`)
  const twice = [...files].filter(([, found]) => {
    const mirrored = found.map(({ path }) => path.replace(/^src\/store\/(sqlite|postgres)\//, ''))
    return new Set(found.map(({ path }) => path)).size > 1 && (new Set(mirrored).size > 1 || found.length > 2)
  })
  assert.deepEqual(
    twice.map(([name, found]) => `${name}: ${found.map(({ path }) => path).join(', ')}`),
    [],
  )
})
