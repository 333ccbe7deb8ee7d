/** Tests of finding known names by a part of them, of names that were observed, added by a list, or forgotten. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { addNames } from '../../../../src/registrations/add-names.ts'
import type { NameParts, NameQuery } from '../../../../src/search/name-query.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import type { DomainName } from '../../../../src/values/domain-name.ts'
import type { Day } from '../../../../src/values/time.ts'
import { inForm } from '../../../long.ts'
import { namesOf, walkNames } from '../answers.ts'
import type { Engine } from '../engine.ts'
import { property, testProperties } from '../histories.ts'
import { emptyIndex, inverseHold, maintain, maintainerOf } from '../inverse/index-runs.ts'
import { dns, ingestAll, name, seen, testWithStore } from '../world.ts'

/** Few letters, so that texts repeat within a name and in last labels. */
const label = fc.stringMatching(/^[ab]{1,4}$/)
const knownName = fc
  .tuple(fc.array(fc.oneof(label, fc.constantFrom('b-a', '_a', '0a')), { minLength: 1, maxLength: 3 }), label)
  .map(([labels, last]) => name([...labels, last].join('.')))
const text = fc.stringMatching(/^[ab.]{1,5}$/)
const query: fc.Arbitrary<NameQuery> = fc
  .tuple(fc.constantFrom('below', 'start', 'end', 'inside'), text)
  .map(
    ([by, each]): NameQuery => ({ by, text: by === 'end' || by === 'below' ? each.replace(/^\.+|\.+$/g, '') : each }),
  )
  .filter((each) => each.text !== '')
/** Parts that overlap, with and without the end of a label. */
const parts: fc.Arbitrary<NameParts> = fc.record({
  starts: fc.array(fc.stringMatching(/^([ab]{1,2}\.)?[ab]{0,3}[ab-]\.?$/), { maxLength: 6 }),
  insides: fc.array(fc.stringMatching(/^[ab]{1,3}\.?$/), { maxLength: 3 }),
})
type Step = { by: 'observation' | 'list' | 'forget'; names: DomainName[] }
const step: fc.Arbitrary<Step> = fc.record({
  by: fc.constantFrom('observation', 'observation', 'list', 'list', 'forget'),
  names: fc.uniqueArray(knownName, { minLength: 1, maxLength: 8 }),
})

/** Adds names as a list does. */
export async function addByList(store: Store, names: DomainName[]): Promise<void> {
  const batches = (async function* () {
    yield names
  })()
  const context = { store, signal: new AbortController().signal, onAdded: () => {} }
  await addNames(batches, { insertsUnknown: true, makesDue: false }, context)
}

/** Takes a step, and the same in a set of known names. A forgotten name stays forgotten. */
async function take(store: Store, { by, names }: Step, known: Set<DomainName>, forgotten: Set<DomainName>) {
  if (by === 'observation')
    await ingestAll(
      store,
      names.map((each) => seen(each, 1, dns({ A: ['192.0.2.1'] }))),
    )
  else if (by === 'list') await addByList(store, names)
  else for (const each of names) await store.observations.forget(each)
  for (const each of names) {
    if (by === 'forget') {
      known.delete(each)
      forgotten.add(each)
    } else if (!forgotten.has(each)) known.add(each)
  }
}

function hasPart(candidate: DomainName, { starts, insides }: NameParts): boolean {
  const isInside = (text: string): boolean => {
    const places = Array.from(candidate, (_, at) => at).slice(1, candidate.lastIndexOf('.'))
    return places.some((at) => candidate.startsWith(text, at))
  }
  return starts.some((text) => candidate.startsWith(text)) || insides.some(isInside)
}

export function names(engine: Engine): void {
  const runs = Math.min(engine.runs ?? inForm(6, 30), 30)
  testProperties({ ...engine, runs }, [
    property(
      'the known names that contain a text, begin or end with it, or have one of many parts, are found once each',
      [
        fc.array(step, { maxLength: 8 }),
        fc.array(query, { minLength: 6, maxLength: 6 }),
        fc.array(parts, { minLength: 3, maxLength: 3 }),
        fc.integer({ min: 1, max: 5 }),
      ],
      async ({ store, url }, steps, queries, manyParts, limit) => {
        const known = new Set<DomainName>()
        const forgotten = new Set<DomainName>()
        const requireFound = async (): Promise<void> => {
          for (const each of queries) {
            const expected = namesOf([...known], each)
            const found = await walkNames(store.inverse, each, null, limit)
            assert.deepEqual(found.toSorted(), expected, JSON.stringify(each))
            const short = (candidate: string): boolean => candidate.length % 2 === 0
            const filtered = await walkNames(store.inverse, each, short, limit)
            assert.deepEqual(filtered.toSorted(), expected.filter(short), JSON.stringify(each))
          }
        }
        const requireParts = async (): Promise<void> => {
          for (const each of manyParts) {
            const { names, isComplete } = await store.inverse.namesOfParts(each)
            const expected = [...known].filter((candidate) => hasPart(candidate, each))
            assert.deepEqual([names.toSorted(), isComplete], [expected.toSorted(), true], JSON.stringify(each))
          }
        }
        for (const each of steps) await take(store, each, known, forgotten)
        await requireFound()
        await requireParts()
        const hold = await inverseHold(store)
        await maintain(maintainerOf(store, hold))
        await requireFound()
        await requireParts()
        await emptyIndex(store, url, hold)
        await maintain(maintainerOf(store, hold))
        await requireFound()
        await requireParts()
      },
    ),
  ])

  testWithStore(
    engine,
    'a text that ends with a dot is not at the start of the name before that dot',
    async (store) => {
      const text = 'a.example.'
      const longer = name('a.example.org')
      await addByList(store, [name('a.example'), name('b.a.example'), longer])
      for (const by of ['start', 'inside'] as const)
        assert.deepEqual(await walkNames(store.inverse, { by, text }, null, 10), [longer], by)
      const { names: found } = await store.inverse.namesOfParts({ starts: [text], insides: [] })
      assert.deepEqual(found, [longer])
    },
  )

  testWithStore(
    engine,
    'a name keeps the newest day of its registration, also beside observations, until it is forgotten',
    async (store) => {
      const [a, b, c] = ['a.example', 'b.example', 'c.example'].map(name) as [DomainName, DomainName, DomainName]
      const registered = async (day: string, ...names: DomainName[]): Promise<void> => {
        const batches = (async function* () {
          yield names
        })()
        const context = { store, signal: new AbortController().signal, onAdded: () => {} }
        await addNames(batches, { insertsUnknown: true, makesDue: true, registered: day as Day }, context)
      }
      const days = async () => (await store.facts.summaries([a, b, c])).map((summary) => summary?.registered)
      await ingestAll(store, [seen(a, 1, dns({ A: ['192.0.2.1'] })), seen(c, 1, dns({}))])
      await registered('2026-03-01', a, b)
      assert.deepEqual(await days(), ['2026-03-01', '2026-03-01', null])
      await ingestAll(store, [seen(a, 2, dns({ A: ['192.0.2.2'] })), seen(b, 2, dns({ A: ['192.0.2.1'] }))])
      await registered('2026-02-01', a)
      await registered('2026-05-01', b)
      assert.deepEqual(await days(), ['2026-03-01', '2026-05-01', null])
      await store.observations.forget(b)
      await registered('2026-06-01', b)
      assert.deepEqual(await days(), ['2026-03-01', undefined, null])
    },
  )

  testWithStore(
    engine,
    'names come in the order of the text, and those with it in the last label last',
    async (store) => {
      const batch = [
        'ban.example',
        'urban.example',
        'bandana.example',
        'a.urban',
        'x.bananas',
        'aban-x.ban',
        'turban.net',
      ]
      await ingestAll(
        store,
        batch.map((each) => seen(each, 1, dns({ A: ['192.0.2.1'] }))),
      )
      assert.deepEqual(await walkNames(store.inverse, { by: 'inside', text: 'ban' }, null, 2), [
        'ban.example',
        'bandana.example',
        'aban-x.ban',
        'urban.example',
        'turban.net',
        'a.urban',
        'x.bananas',
      ])
      assert.deepEqual(await walkNames(store.inverse, { by: 'start', text: 'ban' }, null, 1), [
        'ban.example',
        'bandana.example',
      ])
    },
  )
}
