/** docs/incidents.md lists every finding of `check`, and says of each whether it is repaired. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FINDINGS } from '../../src/store/shared/check/findings.ts'
import { readPage } from './markdown.ts'

/** What `check` finds anything of: its tables have no list of problems. */
const ANYTHING = '…'

/** The rows of the table of findings: the problems in the first cell, and whether they are repaired. */
function documentedFindings(): { problems: string[]; isRepaired: boolean }[] {
  const [, section = ''] = /## `check` reports a finding\n([\s\S]*?)\n## /.exec(readPage('incidents.md')) ?? []
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  return rows.map((line) => {
    const [, first = '', , repaired = ''] = line.split(' | ').join('|').split('|')
    assert.match(repaired, /^(yes|no)$/, line)
    return {
      problems: [...first.matchAll(/`([^`]+)`/g)].map(([, problem]) => problem!),
      isRepaired: repaired === 'yes',
    }
  })
}

test('each finding has a row that says whether it is repaired', () => {
  const rows = documentedFindings()
  const missing = FINDINGS.filter(
    (finding) =>
      finding.problem !== ANYTHING &&
      !rows.some(
        ({ problems, isRepaired }) => problems.includes(finding.problem) && isRepaired === 'repair' in finding,
      ),
  )
  assert.deepEqual(missing, [])
})

test('each row is about findings that exist', () => {
  const known = new Set(FINDINGS.flatMap(({ problem, tables = [] }) => [problem, ...tables]))
  const unknown = documentedFindings().flatMap(({ problems }) => problems.filter((problem) => !known.has(problem)))
  assert.deepEqual(unknown, [])
})
