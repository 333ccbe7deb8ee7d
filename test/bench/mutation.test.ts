/** bench:mutation: the list of survivors names changes that the bench makes, each with a reason. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { acceptedSurvivors, formatSurvivor } from '../../bench/mutation/accepted.ts'
import { MUTATED_MODULES } from '../../bench/mutation/modules.ts'
import { mutantsOf } from '../../bench/mutation/mutants.ts'

const ROOT = join(import.meta.dirname, '../..')

test('an operator, a condition, a number, a text and a statement are changed, but no type and no message', () => {
  const source = "if (one < 2) throw new Error('a' + 1)\nconst text: 'b' = 'c'\nrun(text)"
  assert.deepEqual(mutantsOf('a.ts', source).map(formatSurvivor), [
    "one < 2 → !(one < 2) ▸ if (one < 2) throw new Error('a' + 1)",
    "< → <= ▸ if (one < 2) throw new Error('a' + 1)",
    "2 → 3 ▸ if (one < 2) throw new Error('a' + 1)",
    "'c' → '' ▸ const text: 'b' = 'c'",
    'run(text) → ; ▸ run(text)',
  ])
})

test('every survivor of the list is a change that the bench makes, and has a reason', () => {
  const paths = MUTATED_MODULES.flatMap(({ sources }) => sources.flatMap((each) => globSync(each, { cwd: ROOT })))
  const made = new Set(
    paths.flatMap((path) =>
      mutantsOf(path, readFileSync(join(ROOT, path), 'utf8')).map((mutant) => `${path}: ${formatSurvivor(mutant)}`),
    ),
  )
  const listed = acceptedSurvivors().map(({ path, change, line }) => `${path}: ${change} ▸ ${line}`)
  assert.deepEqual(
    listed.filter((each) => !made.has(each)),
    [],
  )
  assert.equal(new Set(listed).size, listed.length, 'none is listed twice')
  for (const { change, reason } of acceptedSurvivors()) assert.match(reason, /\.$/, change)
})
