/**
 * Every link between documents leads to an existing file and heading, and long documents begin with a contents list.
 */

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

const ROOT = normalize(`${import.meta.dirname}/../..`)
/** Longer documents need a contents list: about two screens. */
const MAX_LINES_WITHOUT_CONTENTS = 100

const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).sort()

/** The lines of a document, without code blocks. */
function proseLines(path: string): string[] {
  let isCode = false
  return readFileSync(join(ROOT, path), 'utf8')
    .split('\n')
    .filter((line) => {
      if (/^\s*```/.test(line)) isCode = !isCode
      return !isCode
    })
}

/** The anchor that GitHub gives a heading: lower case, without punctuation, blanks as hyphens. */
const anchorOf = (heading: string) =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

/** The anchors of a document's headings. A repeated heading gets a number. */
function anchorsOf(path: string): Set<string> {
  const counts = new Map<string, number>()
  const headings = proseLines(path).flatMap((line) => /^#{1,6} (.+?)\s*$/.exec(line)?.[1] ?? [])
  return new Set(
    headings.map(anchorOf).map((anchor) => {
      const count = counts.get(anchor) ?? 0
      counts.set(anchor, count + 1)
      return count === 0 ? anchor : `${anchor}-${count}`
    }),
  )
}

/** The targets of links, without those to other sites. */
function linksOf(path: string): string[] {
  const text = proseLines(path)
    .join('\n')
    .replace(/`[^`\n]*`/g, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!).filter((target) => !/^\w+:/.test(target))
}

/** Why a link of `path` leads nowhere; null if it works. */
function linkError(path: string, link: string): string | null {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? path : join(dirname(path), file)
  if (target.startsWith('..') || !existsSync(join(ROOT, target))) return `${path}: ${link}: no such file`
  if (anchor === undefined || !target.endsWith('.md')) return null
  return anchorsOf(target).has(anchor) ? null : `${path}: ${link}: no such heading`
}

for (const path of documents) {
  test(`${path}: every link leads to an existing file and heading`, () => {
    assert.deepEqual(
      linksOf(path).flatMap((link) => linkError(path, link) ?? []),
      [],
    )
  })
}

for (const path of documents.filter((path) => dirname(path) === 'docs')) {
  const lines = proseLines(path)
  const isLong = readFileSync(join(ROOT, path), 'utf8').split('\n').length > MAX_LINES_WITHOUT_CONTENTS
  test(`${path}: a contents list links to every section`, { skip: !isLong && 'it is short' }, () => {
    const sections = lines
      .flatMap((line) => /^## (.+?)\s*$/.exec(line)?.[1] ?? [])
      .filter((title) => title !== 'Contents')
    const start = lines.findIndex((line) => line.startsWith('## ') && line.trim() !== '## Contents')
    const contents = lines.slice(0, start).join('\n')
    assert.deepEqual(
      sections.filter((title) => !contents.includes(`(#${anchorOf(title)})`)),
      [],
    )
  })
}

test('links with errors are found, and headings get the anchors of GitHub', () => {
  assert.equal(linkError('README.md', 'docs/api.md#lookup'), null)
  assert.match(linkError('README.md', 'docs/none.md')!, /no such file$/)
  assert.match(linkError('README.md', 'docs/api.md#none')!, /no such heading$/)
  assert.equal(anchorOf('Paths outside /v1.0/'), 'paths-outside-v10')
  assert.equal(anchorOf('`serve` and [links](a.md)'), 'serve-and-links')
})
