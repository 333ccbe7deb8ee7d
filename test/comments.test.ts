/** Comments name only code and files that exist. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { test } from 'node:test'
import { parseSync } from 'oxc-parser'

const ROOT = `${import.meta.dirname}/..`
const exclude = ['**/{node_modules,dist}']
const PATHS = globSync('**/*.{ts,tsx,js,sql,md}', { cwd: ROOT, exclude })

/** Names: with a capital inside or in front, called, followed by a colon, or opening the comment. */
const NAME_FORMS = [
  /[A-Za-z][\w$]*[a-z][A-Z][\w$]*|[a-z][A-Z][\w$]*|[A-Z][a-z][\w$]*/,
  /[A-Za-z_$][\w$]*(?=\([^`]*\)`)/,
  /[a-z]\w*(?=`:)/,
  /(?<=^\*?\s*`)[a-z]\w*(?=`)/,
]
/** Such a name in backticks, also as the last member of `a.b` and with arguments. */
const NAME = new RegExp(`\`(?:\\w+\\.)*(${NAME_FORMS.map(({ source }) => source).join('|')})(?:\\([^\`]*\\))?\``, 'g')
/** Not the end of a URL or of a pattern with an asterisk, and nothing in `dist/`. */
const PATH = /(?<![\w*/:.-])(?!dist\/)(?:\.{1,2}\/)*((?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:ts|js|sql|md))\b(?![/*])/g

/** What the comments of a file mention, and the words of its code. */
function readFile(path: string) {
  const text = readFileSync(`${ROOT}/${path}`, 'utf8')
  const { comments, module } = parseSync(path, text)
  const mentioned = (pattern: RegExp) =>
    comments.flatMap(({ value }) => [...value.matchAll(pattern)].map((found) => found[1]!))
  let code = text
  for (const { start, end } of comments.toReversed()) code = code.slice(0, start) + code.slice(end)
  const imports = module.staticImports.map(({ moduleRequest }) => posix.join(posix.dirname(path), moduleRequest.value))
  return { names: mentioned(NAME), paths: mentioned(PATH), words: new Set(code.match(/[A-Za-z_$][\w$]*/g)), imports }
}

const FILES = new Map(
  globSync('{src,web,lab,bench,test,client,scripts,bin}/**/*.{ts,tsx,js}', { cwd: ROOT, exclude }).map((path) => [path, readFile(path)]), // biome-ignore format: one row
)

/** The files that a comment may mean by a path, which may leave out the folders above. */
const filesAt = (end: string) => PATHS.filter((path) => path === end || path.endsWith(`/${end}`))

test('every path in a comment is the end of the path of a file', () => {
  const unknown = [...FILES].flatMap(([file, { paths }]) =>
    paths.filter((path) => filesAt(path).length === 0).map((path) => `${file}: ${path}`),
  )
  assert.deepEqual(unknown, [])
})

test('every name in backticks in a comment is in its file, in a file that it imports or in one that it mentions', () => {
  const unknown = [...FILES].flatMap(([file, { names, paths, words, imports }]) => {
    const near = [...imports, ...paths.flatMap(filesAt)]
    return names
      .filter((name) => !words.has(name) && !near.some((path) => FILES.get(path)?.words.has(name)))
      .map((name) => `${file}: ${name}`)
  })
  assert.deepEqual(unknown, [])
})
