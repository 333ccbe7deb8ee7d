/** bench:all: every bench has a short size, and figures are compared with those of the last committed run. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type BenchRun, compareRuns, type Figure, uniqueNames } from '../../bench/all/compare.ts'
import { formatResults } from '../../bench/all/results.ts'
import { SHORT_RUNS } from '../../bench/all/short-runs.ts'

function figure(name: string, value: number | null, unit: string, target = ''): Figure {
  return { name, value, unit, target, isMet: null }
}

function run(figures: readonly Figure[], other: Partial<BenchRun> = {}): BenchRun {
  const place = { date: '2026-11-22', commit: 'abc', machine: 'a machine', load: 'no other work' }
  return { ...place, arguments: '--names 1', seconds: 1, isQuiet: true, error: null, figures: [...figures], ...other }
}

function verdictOf(before: Figure, now: Figure): [string, number | null] {
  const [compared] = compareRuns(run([now]), run([before]))
  return [compared!.verdict, compared!.change]
}

test('every bench of package.json has a short size', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const benches = Object.keys(scripts).flatMap((name) => (name.startsWith('bench:') ? [name.slice(6)] : []))
  assert.deepEqual(Object.keys(SHORT_RUNS).sort(), benches.filter((name) => name !== 'all').sort())
})

for (const name of ['all', 'ingest'])
  test(`bench:${name} --help prints what the bench does and its options`, () => {
    const bench = fileURLToPath(new URL(`../../bench/${name}.ts`, import.meta.url))
    const text = execFileSync(process.execPath, [bench, '--help'], { encoding: 'utf8' })
    assert.match(text, new RegExp(`^.npm run bench:${name}.: [^]*\\n\\nOptions: .*--only`))
  })

test('a rate that falls and a cost that rises are worse, and the opposite is better', () => {
  assert.deepEqual(verdictOf(figure('a', 100, 'requests/s'), figure('a', 50, 'requests/s')), ['worse', -0.5])
  assert.deepEqual(verdictOf(figure('a', 100, 'per second and core'), figure('a', 150, 'per second and core')), [
    'better',
    0.5,
  ])
  assert.deepEqual(verdictOf(figure('a', 100, 'µs per probe'), figure('a', 150, 'µs per probe')), ['worse', 0.5])
  assert.deepEqual(verdictOf(figure('a', 100, 'bytes per name'), figure('a', 50, 'bytes per name')), ['better', -0.5])
})

test('the target says which direction is better, whatever the unit', () => {
  assert.deepEqual(verdictOf(figure('a', 1, '×', '≥ 2'), figure('a', 2, '×', '≥ 2')), ['better', 1])
  assert.deepEqual(verdictOf(figure('a', 1, '×', '≤ 2'), figure('a', 2, '×', '≤ 2')), ['worse', 1])
  assert.deepEqual(verdictOf(figure('a', 0, 'calls', '≤ 0'), figure('a', 3, 'calls', '≤ 0')), ['worse', null])
})

test('a small change, a figure without a direction and a new figure have no verdict', () => {
  assert.equal(verdictOf(figure('a', 100, 'requests/s'), figure('a', 90, 'requests/s'))[0], 'same')
  assert.equal(verdictOf(figure('a', 100, ''), figure('a', 50, ''))[0], 'none')
  assert.deepEqual(verdictOf(figure('a', 100, 's'), figure('b', 50, 's')), ['new', null])
  assert.equal(compareRuns(run([figure('a', 1, 's')]), undefined)[0]!.verdict, 'new')
})

test('figures of another size are not compared', () => {
  const before = run([figure('a', 100, 's')], { arguments: '--names 1000' })
  assert.deepEqual(
    compareRuns(run([figure('a', 1, 's')]), before).map(({ verdict, before: old }) => [verdict, old]),
    [['new', null]],
  )
})

test('a figure says which of its two runs other work disturbed', () => {
  const loadedOf = (isQuiet: boolean, wasQuiet: boolean): string => {
    const figures = [figure('a', 1, 's')]
    return compareRuns(run(figures, { isQuiet }), run(figures, { isQuiet: wasQuiet }))[0]!.loaded
  }
  assert.deepEqual(
    [loadedOf(true, true), loadedOf(false, true), loadedOf(true, false), loadedOf(false, false)],
    ['', 'now', 'before', 'both'],
  )
  const [ratio] = compareRuns(run([figure('a', null, '×')], { isQuiet: false }), run([figure('a', 2, '×')]))
  assert.deepEqual([ratio!.verdict, ratio!.change, ratio!.before], ['none', null, 2])
})

test('indented and repeated names become unique', () => {
  assert.deepEqual(uniqueNames(['ours', '  time', 'theirs', '  time', '  time']), [
    'ours',
    'ours: time',
    'theirs',
    'theirs: time',
    'theirs: time (2)',
  ])
})

test('results are written as JSON with one line per figure', () => {
  const results = { b: run([figure('x', 1.5, 's'), figure('y', null, '×', '≥ 1')]), a: run([]) }
  const text = formatResults(results)
  assert.deepEqual(JSON.parse(text), results)
  assert.equal(text.split('\n').filter((line) => line.includes('"value"')).length, 2)
})
