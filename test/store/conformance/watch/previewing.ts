/** Tests of previews: they have the changes that a watch from the beginning would have matched. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { MAX_PREVIEW_ROWS, type PreviewRow, readWatchPreview } from '../../../../src/export/watch-preview.ts'
import type { Observation } from '../../../../src/observe/observation.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { thresholdOfKind, type WatchKind } from '../../../../src/values/watch-kind.ts'
import type { WatchRule } from '../../../../src/watch/watch.ts'
import { inForm } from '../../../long.ts'
import { CERTIFICATES, history, NAMES } from '../arbitraries.ts'
import type { Engine } from '../engine.ts'
import { batchSizes, happen, property, testProperties } from '../histories.ts'
import { dns, ingestAll, minute, NOW, NXDOMAIN, seen, testWithStore, web } from '../world.ts'
import { isAbout, WatchModel } from './watch-model.ts'

const rule = (kind: WatchKind, value: string, types: WatchRule['types'] = null): WatchRule => ({
  kind,
  value,
  threshold: thresholdOfKind(kind)?.fallback ?? null,
  types,
})

const RULES: readonly WatchRule[] = [
  rule('name', 'a.example'),
  rule('name', 'b.example', ['website', 'redirect']),
  rule('suffix', 'example'),
  rule('pattern', 'c-d*'),
  rule('address', '192.0.2.10'),
  rule('address', '192.0.2.0/29'),
  rule('address', '2001:db8::/126'),
  rule('nameserver', 'one.example'),
  rule('nameserver', 'example'),
  rule('mailserver', 'example'),
  rule('redirect', 'u.example'),
  rule('redirect', 't.example'),
  rule('certificate', 'b.example'),
]

/**
 * Histories without what the inverse index shows as a new span and a watch does not: records that come back after an
 * absence, or after a time in which they were not observed.
 */
const observations = history([...NAMES], 40).map((events) =>
  events.flatMap((event): Observation[] => {
    if ('forget' in event || (event.dns === null && event.web === null)) return []
    if (event.dns === null || event.dns.status === 'nxdomain') return [{ ...event, dns: null, web: event.web ?? web() }]
    const { interrupted: _, ...part } = event.dns
    return [{ ...event, dns: part }]
  }),
)

async function preview(store: Pick<Store, 'facts' | 'inverse'>, asked: WatchRule, since: number) {
  const found = await readWatchPreview(store, asked, since)
  assert.ok(found !== null)
  return found
}

const keyOf = ({ name, type }: Pick<PreviewRow, 'name' | 'type'>): string => `${name} ${type}`

export function previewing(engine: Engine): void {
  const runs = Math.min(engine.runs ?? inForm(15, 60), 60)
  testProperties({ ...engine, runs }, [
    property(
      'a preview has the changes that the watch would have matched since a moment, and no others',
      [observations, batchSizes, fc.integer({ min: 0, max: 60 })],
      async ({ store }, given, sizes, start) => {
        const model = new WatchModel(NOW)
        for (const [id, each] of RULES.entries()) model.watches.set(id, each)
        await happen(store, given, sizes)
        for (const each of given) model.observe(each)
        for (const [id, asked] of RULES.entries()) {
          const matched = model.rows
            .filter((row) => row.watch === id)
            .map(({ name, observed_at, text }) => ({ name, observed_at: observed_at!, ...JSON.parse(text) }))
          const { rows, types, isComplete } = await preview(store, asked, minute(start))
          assert.equal(isComplete, true)
          const possible = new Set(matched.map(keyOf))
          for (const row of rows) assert.ok(possible.has(keyOf(row)), `${asked.kind} ${keyOf(row)}`)
          const found = new Set(rows.map((row) => `${keyOf(row)} ${row.observed_at}`))
          for (const row of matched.filter(
            ({ type, observed_at }) => types.includes(type) && observed_at >= minute(start),
          ))
            if (isKept(asked, row))
              assert.ok(found.has(`${keyOf(row)} ${row.observed_at}`), JSON.stringify([asked, row]))
        }
      },
    ),
  ])

  testWithStore(engine, 'a preview begins at its moment, and has only the types of the watch', async (store) => {
    await ingestAll(store, [
      seen('a.example', 1, dns({ A: ['192.0.2.1'] }), web({ has_website: true })),
      seen('a.example', 4, dns({ A: ['192.0.2.1'] })),
      seen('a.example', 5, dns({ A: ['192.0.2.2'] })),
      seen('a.example', 6, NXDOMAIN),
      seen('b.example', 6, dns({ A: ['192.0.2.1'] })),
    ])
    const found = async (asked: WatchRule, since: number) => {
      const { rows } = await preview(store, asked, minute(since))
      return rows.map(({ name, observed_at, type }) => `${name} ${(observed_at! - minute(0)) / 60} ${type}`)
    }
    const a = rule('name', 'a.example')
    assert.deepEqual(await found(a, 1), [
      'a.example 6 status',
      'a.example 5 records',
      'a.example 1 records',
      'a.example 1 website',
      'a.example 1 new',
    ])
    assert.deepEqual(await found(a, 6), ['a.example 6 status'])
    assert.deepEqual(await found(rule('name', 'a.example', ['new', 'website']), 1), [
      'a.example 1 website',
      'a.example 1 new',
    ])
    assert.deepEqual(await found(rule('suffix', 'example'), 2), ['b.example 6 new'])
    assert.deepEqual(await found(rule('pattern', '*.example', ['records']), 1), [])
    const address = rule('address', '192.0.2.1')
    assert.deepEqual(await found(address, 1), ['a.example 1 records', 'b.example 6 records', 'a.example 4 records'])
    assert.deepEqual(await found(address, 2), ['b.example 6 records', 'a.example 4 records'])
  })

  testWithStore(
    engine,
    'a preview has certificates of logs and lookalikes, and says that it is cut off',
    async (store) => {
      const logged = CERTIFICATES.map((certificate, n) => ({ certificate, logged_at: minute(n) }))
      await store.observations.addLogged(logged)
      const { rows, isComplete } = await preview(store, rule('certificate', 'b.example'), minute(2))
      assert.deepEqual([rows, isComplete], [[{ name: null, observed_at: minute(2), type: 'certificate' }], true])
      const names = Array.from({ length: MAX_PREVIEW_ROWS + 1 }, (_, n) => `n${n}.cut.example`)
      await ingestAll(
        store,
        names.map((each) => seen(each, 1, dns({ A: ['192.0.2.1'] }))),
      )
      for (const each of ['paypa1.example', 'paypal-x.example', 'paypal.example'])
        await ingestAll(store, [seen(each, 1, dns({ A: ['192.0.2.1'] }))])
      const alike = await preview(store, rule('lookalikes', 'paypal.example'), minute(0))
      assert.deepEqual(
        [alike.rows, alike.isComplete],
        [[{ name: 'paypa1.example', observed_at: minute(1), type: 'new' }], true],
      )
      for (const asked of [rule('suffix', 'cut.example'), rule('address', '192.0.2.0/24')]) {
        const cut = await preview(store, asked, minute(0))
        assert.deepEqual([cut.rows.length, cut.isComplete], [MAX_PREVIEW_ROWS, false])
      }
      assert.equal(await readWatchPreview(store, rule('text', 'a.example'), minute(0)), null)
    },
  )
}

/** Whether the time of a difference is kept: that of something that appeared is. A first observation may show nothing. */
function isKept(asked: WatchRule, { type, added = [], after }: ModelDifference): boolean {
  if (type === 'new') return false
  if (asked.kind === 'name' || type === 'certificate') return true
  const appeared = type === 'redirect' ? [after ?? ''] : added.map((record) => SUBJECTS.map((key) => record[key] ?? ''))
  return appeared.flat().some((each) => each !== '' && isAbout(asked, [each]))
}

type ModelDifference = { type: string; added?: readonly Record<string, string>[]; after?: string | null }
const SUBJECTS = ['ipv4_address', 'ipv6_address', 'nameserver', 'mail_server']
