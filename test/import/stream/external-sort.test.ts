/** Tests the external sort: sorted runs in a temporary file give the result of an ordinary sort and leave nothing. */

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { createExternalSorter } from '../../../src/import/stream/external-sort.ts'
import { InputError } from '../../../src/import/stream/input-error.ts'
import { folderOf } from '../../cli/run.ts'

const texts = fc.array(
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  { maxLength: 300 },
)

test('texts are returned in order, whatever fits into memory, and nothing is left on the disk', (t) => {
  const { path } = folderOf(t)
  mkdirSync(path('temporary'))
  inTemporary(path('temporary'), () =>
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 1, max: 5000 }), (given, run, memory) => {
        const sorted = createExternalSorter(memory)
        for (const text of given) sorted.add(text)
        sorted.addSorted(
          Buffer.from(
            run
              .toSorted()
              .map((text) => `${text}\n`)
              .join(''),
          ),
        )
        assert.deepEqual(readdirSync(path('temporary')), [])
        assert.deepEqual([...sorted.sorted()], [...given, ...run].sort())
      }),
    ),
  )
})

test('texts longer than a buffer are returned whole', (t) => {
  const { path } = folderOf(t)
  const given = Array.from({ length: 30 }, (_, index) => String.fromCharCode(97 + (index % 26)).repeat(300_000 + index))
  inTemporary(path('.'), () => {
    const sorted = createExternalSorter(1)
    for (const text of given) sorted.add(text)
    assert.deepEqual([...sorted.sorted()], given.toSorted())
  })
})

test('given a folder, its sorted runs go there, and nothing is left if it is closed before the last text', (t) => {
  const { path } = folderOf(t)
  mkdirSync(path('runs'))
  rmSync(path('nowhere'), { force: true })
  inTemporary(path('nowhere'), () => {
    const sorted = createExternalSorter(1, path('runs'))
    for (const text of ['b', 'c', 'a']) sorted.add(text)
    assert.equal(sorted.sorted().next().value, 'a')
    sorted.close()
    assert.deepEqual(readdirSync(path('runs')), [])
  })
  assert.throws(
    () => createExternalSorter(1, path('nowhere')).add('x'),
    /^InputError: the folder .*nowhere cannot be used: no such file/,
  )
})

test('an unusable temporary folder is named, with what to do', (t) => {
  const { path } = folderOf(t)
  rmSync(path('nowhere'), { force: true })
  inTemporary(path('nowhere'), () => {
    assert.throws(
      () => createExternalSorter(1).add('x'),
      (error) =>
        error instanceof InputError &&
        /nowhere cannot be used: no such file.*; TMPDIR names another$/.test(error.message),
    )
  })
})

function inTemporary(folder: string, work: () => void): void {
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  try {
    work()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}
