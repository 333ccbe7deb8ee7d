/** Comments name only code and files that exist. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type CommentedFile, readComments } from './walls/comments.ts'

const ROOT = `${import.meta.dirname}/..`

const paths = globSync('**/*.{ts,tsx,js,sql,md}', { cwd: ROOT, exclude: ['**/node_modules', 'dist'] })
const sources = globSync('{src,web,lab,bench,test,client,scripts,bin}/**/*.{ts,tsx,js}', {
  cwd: ROOT,
  exclude: ['**/node_modules', '**/dist'],
}).sort()
const files = new Map(sources.map((path) => [path, readComments(path, readFileSync(`${ROOT}/${path}`, 'utf8'))]))

/** The files that a comment may mean by a path. It may leave out the folders above, and `../` in front counts for nothing. */
const filesAt = (text: string, all: readonly string[]) => {
  const end = text.replace(/^(\.{1,2}\/)+/, '')
  return all.filter((path) => path === end || path.endsWith(`/${end}`))
}

test('every path in a comment is the end of the path of a file', () => {
  const unknown = [...files].flatMap(([path, { paths: mentioned }]) =>
    mentioned
      .filter(({ text }) => filesAt(text, paths).length === 0)
      .map(({ text, line }) => `${path}:${line} ${text}`),
  )
  assert.deepEqual(unknown, [])
})

/** The names that the code of the file, of its imports and of the files that its comments mention does not contain. */
const unknownNames = ({ names, paths: mentioned, words, imports }: CommentedFile, all: typeof files) => {
  const near = [...imports, ...mentioned.flatMap(({ text }) => filesAt(text, [...all.keys()]))]
  return names.filter(({ text }) => !words.has(text) && !near.some((path) => all.get(path)?.words.has(text)))
}

test('every name in backticks in a comment is in its file, in a file that it imports or in one that it mentions', () => {
  const unknown = [...files].flatMap(([path, file]) =>
    unknownNames(file, files).map(({ text, line }) => `${path}:${line} ${text}`),
  )
  assert.deepEqual(unknown, [])
})

test('names and paths are found in comments only, with their lines', () => {
  const text = [
    '/** `opens` with `isHere`, `nowhere`, `call(of)`, `label`: `two words`, `A.bC` and a/b. */',
    "import { b } from '../b.ts'",
    "const isHere = '`inString`, /* a/string.ts */'",
    '// c/one.ts, `two.test.ts`, https://example.com/three.ts and *.four.ts',
  ].join('\n')
  const { names, paths: mentioned, words, imports } = readComments('src/a/a.ts', text)
  assert.deepEqual(
    names.map(({ text, line }) => `${line} ${text}`),
    ['1 opens', '1 isHere', '1 call', '1 label', '1 bC'],
  )
  assert.deepEqual(
    mentioned.map(({ text, line }) => `${line} ${text}`),
    ['4 c/one.ts', '4 two.test.ts'],
  )
  assert.deepEqual([words.has('inString'), words.has('nowhere'), imports], [true, false, ['src/b.ts']])
})

test('a name that only another file has is unknown unless the file imports or mentions that file', () => {
  const other = readComments('src/b.ts', 'export const isThere = 1')
  const read = (text: string) => {
    const file = readComments('src/a.ts', text)
    return unknownNames(file, new Map([['src/a.ts', file], ['src/b.ts', other]])).map(({ text }) => text) // biome-ignore format: short
  }
  assert.deepEqual(read('// `isThere`'), ['isThere'])
  assert.deepEqual(read("// `isThere`\nimport './b.ts'"), [])
  assert.deepEqual(read('// `isThere` of src/b.ts'), [])
  assert.deepEqual(
    [filesAt('../c/one.ts', ['src/c/one.ts']), filesAt('ne.ts', ['src/c/one.ts'])],
    [['src/c/one.ts'], []],
  )
})
