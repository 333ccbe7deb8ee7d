/** Following a certificate log over both interfaces, and logs that lie. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LogFaults } from '../../../lab/certificate-log/log.ts'
import { type LogBatch, LogFault, type LogState, LogUnavailable } from '../../../src/fetch/ct/log.ts'
import { inForm } from '../../long.ts'
import { LOG_TIME, labEntries, openFollower } from './world.ts'

const KINDS = ['tiles', 'rfc6962'] as const
const ALL_NAMES = [
  'alice.github.io',
  'bank.co.uk',
  'deep.example',
  'other.test',
  'shop.example',
  'xn--mnchen-3ya.example',
]

const total = (batches: readonly LogBatch[]): number => batches.reduce((sum, { entries }) => sum + entries, 0)
const namesIn = (batches: readonly LogBatch[]): string[] => [...new Set(batches.flatMap(({ names }) => names))].sort()

test('every entry is read once and verified, from any position, over any growth of the log, with both kinds of keys', async (t) => {
  const entries = await labEntries(1_600)
  const size = fc.oneof(fc.nat(1_600), fc.constantFrom(0, 1, 255, 256, 257, 511, 512, 513, 1_024, 1_600))
  for (const algorithm of ['ec', 'rsa'] as const)
    for (const kind of KINDS) {
      const { lab, follow } = await openFollower(t, entries, algorithm)
      lab.faults.maxEntries = 100
      await fc.assert(
        fc.asyncProperty(fc.array(size, { minLength: 1, maxLength: 4 }), fc.nat(700), async (sizes, startBack) => {
          let state: LogState | null = null
          let read = 0
          const growth = sizes.toSorted((a, b) => a - b)
          for (const headSize of growth) {
            lab.faults.headSize = headSize
            const batches = await follow(kind, state, startBack)
            read += total(batches)
            state = batches.at(-1)!.state
            assert.deepEqual([state.position, state.head.size], [headSize, headSize])
            assert.equal(batches.at(-1)!.unusableEntries + batches.at(-1)!.unusableNames, 0)
          }
          const first = Math.max(0, growth[0]! - Math.max(1, startBack))
          assert.equal(read, growth.at(-1)! - first)
        }),
        { numRuns: kind === 'tiles' ? inForm(12, 25) : inForm(6, 12) },
      )
    }
})

test('the names are registrable domains of certificates and precertificates, each once per batch', async (t) => {
  for (const kind of KINDS) {
    const { follow } = await openFollower(t, await labEntries(10))
    const batches = await follow(kind, null)
    assert.deepEqual(namesIn(batches), ALL_NAMES)
    assert.equal(batches.length, 1)
    assert.equal(batches[0]!.newest, LOG_TIME / 1000 + 9)
    assert.deepEqual(
      (await follow(kind, batches[0]!.state)).map(({ entries, names }) => [entries, names]),
      [[0, []]],
    )
  }
})

test('an entry that is no certificate is counted, and the entries around it are read', async (t) => {
  for (const kind of KINDS) {
    const entries = await labEntries(20)
    entries[3] = { der: Buffer.from('no certificate'), isTbs: false, at: LOG_TIME }
    entries[7] = { der: Buffer.alloc(10_000_000, 0x30), isTbs: true, at: LOG_TIME }
    const { follow } = await openFollower(t, entries)
    const [batch] = await follow(kind, null)
    assert.deepEqual([batch!.entries, batch!.unusableEntries, batch!.names.toSorted()], [20, 2, ALL_NAMES])
  }
})

test('a log that lies is left with a reason before any name of the lie is yielded', async (t) => {
  const cases: [LogFaults, readonly ('tiles' | 'rfc6962')[], RegExp][] = [
    [{ wrongKey: true }, KINDS, /^the signature of its tree head is wrong$/],
    [{ splitView: true }, ['tiles'], /^its hash tiles do not fit its tree head$/],
    [{ splitView: true }, ['rfc6962'], /do(es)? not (fit|begin)/],
    [{ headSize: 700, splitView: true }, ['tiles'], /^its hash tiles do not fit its tree head$/],
    [{ headSize: 700, splitView: true }, ['rfc6962'], /^its tree of 700 entries does not begin with/],
    [{ headSize: 600, splitView: true }, KINDS, /do(es)? not (fit|begin)/],
    [{ headSize: 701, headTime: LOG_TIME }, KINDS, /^its tree of 701 entries was signed before that of 700$/],
    [
      { tamperedTile: /^tile\/data\/003/ },
      ['tiles'],
      /^(its entries 768 to \d+ do not fit|a data tile|an entry|bytes follow)/,
    ],
    [{ tamperedTile: /^tile\/1\// }, ['tiles'], /^its hash tiles do not fit its tree head$/],
    [{ tamperedTile: /^tile\/0\/003/ }, ['tiles'], /^its hash tiles do not fit its tree head$/],
    [{ tamperedTile: /^get-entries/ }, ['rfc6962'], /^its first \d+ entries do not fit its tree head of 1000 entries$/],
  ]
  for (const [faults, kinds, reason] of cases)
    for (const kind of kinds) {
      const { lab, follow } = await openFollower(t, await labEntries(1_000))
      lab.faults = { headSize: 700 }
      const [batch] = await follow(kind, null)
      lab.faults = faults
      await assert.rejects(follow(kind, batch!.state), (error) => {
        assert.ok(error instanceof LogFault, String(error))
        assert.match(error.message, reason)
        return true
      })
    }
})

test('an earlier head of the same tree makes a log unavailable, and the next head goes on where it was', async (t) => {
  for (const kind of KINDS) {
    const { lab, follow } = await openFollower(t, await labEntries(1_000))
    lab.faults = { headSize: 700 }
    const [{ state }] = (await follow(kind, null)) as [LogBatch]
    lab.faults = { headSize: 600, headTime: LOG_TIME }
    await assert.rejects(follow(kind, state), {
      name: 'LogUnavailable',
      message: 'its tree head has 600 entries, and an earlier one had 700',
    })
    lab.faults = { headSize: 700, headTime: LOG_TIME }
    assert.equal(total(await follow(kind, state)), 0, 'the same tree with an earlier time')
    lab.faults = {}
    assert.equal(total(await follow(kind, state)), 300)
  }
})

test('a former head that the log no longer begins with is a split view', async (t) => {
  for (const kind of KINDS) {
    const entries = await labEntries(900)
    const { lab, follow } = await openFollower(t, entries)
    const [{ state }] = (await follow(kind, null)) as [LogBatch]
    lab.entries = entries.with(5, { ...entries[5]!, at: 1 })
    lab.entries.push(...(await labEntries(10)))
    await assert.rejects(follow(kind, state), {
      name: 'LogFault',
      message: /its tree of 910 entries does not begin with its former tree of 900/,
    })
  }
})

test('a busy log is unavailable with the time that it asks for, and removed partial tiles are read from full ones', async (t) => {
  for (const kind of KINDS) {
    const { lab, follow } = await openFollower(t, await labEntries(600))
    lab.faults = { status: 429, retryAfter: 120 }
    await assert.rejects(
      follow(kind, null),
      (error) => error instanceof LogUnavailable && error.retryAfterMs === 120_000,
    )
    lab.faults = { status: 503 }
    await assert.rejects(follow(kind, null), (error) => error instanceof LogUnavailable && error.retryAfterMs === null)
    lab.faults = { status: 404 }
    await assert.rejects(follow(kind, null), LogFault)
  }
  const { lab, follow } = await openFollower(t, await labEntries(600))
  lab.faults = { headSize: 300, withoutPartials: true }
  const batches = await follow('tiles', null, 100)
  assert.deepEqual([total(batches), lab.requests.includes('tile/data/001')], [100, true])
})

test('a log of three levels of tiles is verified with few hash tiles', async (t) => {
  const { lab, follow } = await openFollower(t, await labEntries(66_000))
  const batches = await follow('tiles', null, 1_000)
  assert.equal(total(batches), 1_000)
  assert.deepEqual(
    lab.requests.filter((path) => path.startsWith('tile/') && !path.startsWith('tile/data')).sort(),
    ['tile/0/257.p/208', 'tile/1/001.p/1', 'tile/1/000', 'tile/2/000.p/1'].sort(),
  )
  assert.deepEqual(namesIn(batches), ALL_NAMES)
})
