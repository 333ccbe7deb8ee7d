/** The names of the code: each exported name exists once, and no name uses a word that the glossary replaced. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readDeclaredNames } from './walls/names.ts'

const ROOT = `${import.meta.dirname}/..`

/** The "not" column of the glossary (docs/glossary.md), as words of names. */
const REPLACED = (
  'eye eyes sight sights room rooms bell wish wishes asked beside trust bands doubt manners pace rests narrow meter purse ' +
  'permit permits books gate gates lane lanes outlet refusal refusals night nights deed deeds duty duties shelf wording ' +
  'wordings rarity rarities gone crew pulse hire hires tell told begun lest whoever'
).split(' ')

/** Names that use such a word in another sense, and why. */
const JUSTIFIED: Readonly<Record<string, string>> = {}

/** The words of `name`: camelCase, snake_case, kebab-case and CONSTANT_CASE taken apart, in lower case. */
const wordsIn = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)

const replacedIn = (name: string) => wordsIn(name).filter((word) => REPLACED.includes(word))

const sources = globSync('{src,web,lab,bench}/**/*.{ts,tsx}', { cwd: ROOT }).sort()
const names = sources.map((path) => ({ path, names: readDeclaredNames(path, readFileSync(`${ROOT}/${path}`, 'utf8')) }))

test('no declared name uses a word that the glossary replaced', () => {
  const found = names.flatMap(({ path, names }) =>
    names
      .filter(({ name }) => !(name in JUSTIFIED) && replacedIn(name).length > 0)
      .map(({ name, line }) => `${path}:${line} ${name}`),
  )
  assert.deepEqual([...new Set(found)], [])
})

test('no file or folder is called by a word that the glossary replaced', () => {
  assert.deepEqual(
    sources.filter((path) => replacedIn(path).length > 0),
    [],
  )
})

test('an exported name exists once in src/ (or once in each engine of the store) and once in bench/', () => {
  const files = new Map<string, string[]>()
  for (const { path, names: declared } of names)
    for (const { name, isExported } of declared)
      if (isExported && !path.startsWith('lab/')) {
        const key = `${path.split('/')[0]} ${name}`
        files.set(key, [...(files.get(key) ?? []), path.replace(/^src\/store\/(sqlite|postgres)\//, '$1:')])
      }
  const twice = [...files].filter(([, paths]) => {
    const [first = '', second = '', ...more] = [...new Set(paths)]
    const isMirrored = first.split(':')[1] === second.split(':')[1] && first.includes(':') && second.includes(':')
    return second !== '' && !(isMirrored && more.length === 0)
  })
  assert.deepEqual(
    twice.map(([name, paths]) => `${name}: ${[...new Set(paths)].join(', ')}`),
    [],
  )
})

test('declared names are found wherever a file declares one', () => {
  const text = [
    'export const a = 1, { b, c: [d] } = x',
    'export function e(f: number, { g = 1, ...h }: T) { const i = (j: number) => j }',
    'export type K = { l: number; m(n: string): void }',
    'class O { p = 1; q() {} }',
    'const r = 1',
    'export { r as s } ',
  ].join('\n')
  const declared = readDeclaredNames('a.ts', text)
  assert.deepEqual([...new Set(declared.map(({ name }) => name))].sort().join(''), 'KOabdefghijlmpqr')
  assert.deepEqual(
    declared
      .filter(({ isExported }) => isExported)
      .map(({ name }) => name)
      .sort()
      .join(''),
    'Kabder',
  )
})
