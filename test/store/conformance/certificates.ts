/** Certificates: compares those of names, and their names, between a store and the model; how long they stay. */

import assert from 'node:assert/strict'
import { CLOCK_INDEX } from '../../../src/apply/stored-numbers.ts'
import { startEvent } from '../../../src/inverse/entries/block.ts'
import { EventCollector } from '../../../src/inverse/entries/event-collector.ts'
import { namedHostKeys } from '../../../src/inverse/entries/value-key.ts'
import type { CertificateSpan } from '../../../src/store/port/inverse.ts'
import type { LockHold } from '../../../src/store/port/jobs.ts'
import type { FactsReader, Store } from '../../../src/store/port/store.ts'
import { type Certificate, encodeCertificate } from '../../../src/values/certificate/certificate.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import type { Model } from '../model.ts'
import { CERTIFICATES } from './arbitraries.ts'
import type { Engine } from './engine.ts'
import { emptyIndex, inverseHold, maintain, maintainerOf, namesInBlocks } from './inverse/index-runs.ts'
import { walkStates } from './reading/paging.ts'
import { dns, faults, ingestAll, minute, name, seen, testWithStore, web } from './world.ts'

/** The walk of a certificate finds the times in which each name presented it, and that of a name those that name it. */
export async function agreeOnCertificates(store: Pick<Store, 'inverse' | 'facts'>, model: Model, limit: number) {
  const { inverse, facts } = store
  const all = model.certificateSpans()
  for (const certificate of CERTIFICATES) {
    const { sha256 } = certificate
    const spans = all.filter((each) => each.certificate.sha256 === sha256)
    const texts = ({ name, first, last }: CertificateSpan): string => `${name} ${first} ${last}`
    const found = await walk((position) => inverse.presented(sha256, position, limit), 'spans')
    assert.deepEqual(found.map(texts).sort(), spans.map(texts).sort(), `certificate ${sha256}`)
    const [known] = await facts.certificates([sha256])
    assert.deepEqual(known?.certificate, spans.length > 0 ? certificate : undefined, `details of ${sha256}`)
  }
  const expected = new Set(
    all.flatMap(({ certificate: { sha256, names } }) =>
      names.filter((host) => `.${host}`.endsWith('.b.example')).map((host) => `${host} ${sha256}`),
    ),
  )
  const named = await walk((position) => inverse.namedHosts(name('b.example'), position, limit), 'hosts')
  const texts = named.map(({ host, sha256 }) => `${host} ${sha256}`)
  assert.deepEqual(texts.sort(), [...expected].sort(), 'certificates that name b.example')
}

/** The rows of all pages. */
async function walk<Key extends string, Row>(
  read: (position: Uint8Array | null) => Promise<{ position: Uint8Array | null } & Record<Key, Row[]>>,
  key: Key,
): Promise<Row[]> {
  const found: Row[] = []
  let position: Uint8Array | null = null
  do {
    const page: { position: Uint8Array | null } & Record<Key, Row[]> = await read(position)
    found.push(...page[key])
    position = page.position
  } while (position !== null)
  return found
}

/** All certificates of a name, in pages of `limit`. */
export function walkCertificates(facts: FactsReader, name: DomainName, limit: number) {
  return walkStates(facts, name, (before) => facts.certificateHistory(name, before, limit))
}

export function certificates(engine: Engine): void {
  testWithStore(
    engine,
    'a certificate stays while a name or a log has it, until the names in it are forgotten',
    async (store) => {
      const [own, , shared] = CERTIFICATES as [Certificate, Certificate, Certificate]
      const presenting = (domain: string, certificate: Certificate, at = 1) =>
        seen(domain, at, null, { ...web({ ssl: 'valid' }), certificate })
      await ingestAll(store, [
        presenting('a.example', own, 1),
        presenting('a.example', shared, 2),
        presenting('a.example', own, 3),
        presenting('b.example', shared),
      ])
      const logged = { certificate: { ...own, sha256: 'ab'.repeat(32), names: ['*.a.example'] }, logged_at: minute(1) }
      assert.equal(await store.observations.addLogged([logged, { ...logged, logged_at: minute(2) }]), 1)
      assert.equal(await store.observations.addLogged([logged, { certificate: shared, logged_at: minute(3) }]), 0)
      const sha256s = [own.sha256, shared.sha256, logged.certificate.sha256]
      const knownNow = async () =>
        (await store.facts.certificates(sha256s)).map((each) => (each === null ? 'unknown' : each.logged_at))
      const namedNow = async () => (await store.inverse.namedHosts(name('a.example'), null, 9)).hosts
      assert.deepEqual(await knownNow(), [null, minute(3), minute(1)])
      assert.deepEqual(
        (await namedNow()).map(({ host, sha256 }) => `${host} ${sha256s.indexOf(sha256)}`),
        ['a.example 0', 'a.example 1', '*.a.example 2'],
      )
      const other = { ...logged.certificate, names: ['c.example'] }
      await ingestAll(store, [presenting('c.example', other)])
      assert.deepEqual((await store.inverse.namedHosts(name('c.example'), null, 9)).hosts, [], 'the first details stay')
      assert.deepEqual(await faults(store), [])
      await store.observations.forget(name('c.example'))
      assert.deepEqual(await knownNow(), [null, minute(3), minute(1)], 'a log has the one that it presented')
      await store.observations.forget(name('a.example'))
      assert.deepEqual(
        await knownNow(),
        ['unknown', minute(3), 'unknown'],
        'b.example presents the one that names both',
      )
      assert.deepEqual(
        (await namedNow()).map(({ sha256 }) => sha256s.indexOf(sha256)),
        [1],
      )
      await store.observations.forget(name('b.example'))
      assert.deepEqual(await knownNow(), ['unknown', 'unknown', 'unknown'])
      assert.deepEqual(await namedNow(), [])
      assert.deepEqual((await store.inverse.presented(shared.sha256, null, 9)).spans, [])
      assert.deepEqual(await faults(store), [])
    },
  )

  testWithStore(
    engine,
    'certificates that an older release stored with each state are moved while the index is filled',
    async (store, { url }) => {
      const [one, two] = [CERTIFICATES[1]!, CERTIFICATES[2]!]
      const names = ['p.example', 'q.example', 'r.example'].map(name)
      await ingestAll(
        store,
        names.flatMap((each) => [seen(each, 1, null, web({})), seen(each, 2, dns({ A: [] }), null)]),
      )
      for (const each of names) await presentFormerly(store, each, one, two)
      const hold = await inverseHold(store)
      await emptyIndex(store, url, hold)
      await addFormerEntries(store, hold, names, [one, two])
      assert.deepEqual(await faults(store), [])
      await store.observations.forget(names[2]!)
      await ingestAll(store, [seen(names[1]!, 30, null, { ...web({}), certificate: null })])
      await maintain(maintainerOf(store, hold))
      assert.deepEqual(
        (await walkCertificates(store.facts, names[0]!, 1)).states.map(({ certificate }) => certificate),
        [two, one],
      )
      assert.deepEqual(
        (await walkCertificates(store.facts, names[1]!, 9)).states.map(({ certificate }) => certificate),
        [null, two, one],
      )
      const { hosts } = await store.inverse.namedHosts(name('b.example'), null, 9)
      assert.deepEqual(
        hosts.map(({ host }) => host),
        ['b.example', '*.b.example', 'x.b.example'],
      )
      const { spans } = await store.inverse.presented(two.sha256, null, 9)
      assert.deepEqual(
        spans.map((span) => [span.name, span.first]),
        [
          [names[0], minute(20)],
          [names[1], minute(20)],
        ],
      )
      assert.deepEqual(await faults(store), [])
      for (const each of names) await store.observations.forget(each)
      assert.deepEqual(await store.facts.certificates([one.sha256, two.sha256]), [null, null])
      assert.deepEqual(await namesInBlocks(store), new Set())
    },
  )
}

/** Stores a superseded and a newest certificate of a name as a release did that had no table of certificates. */
async function presentFormerly({ observations }: Store, domain: DomainName, older: Certificate, newer: Certificate) {
  const [state] = await observations.crawlStates([domain])
  const [current] = await observations.currentFacts([domain])
  const clocks = state!.clocks.with(CLOCK_INDEX.certificate, minute(25))
  const certificate = { first_seen: minute(20), count: 2, records: encodeCertificate(newer) }
  const facts = {
    current: { ...current!, states: { ...current!.states, certificate } },
    superseded: [
      {
        type: 'certificate' as const,
        first_seen: minute(10),
        last_confirmed: minute(15),
        records: encodeCertificate(older),
        serial: null,
        base: null,
      },
    ],
    ...{ interruptions: [], firstSeen: [], arrived: [], left: [], terms: undefined, certificates: [] },
    ...{ redirectBefore: null, redirectAfter: null },
    setChanges: [],
    transitions: [],
  }
  assert.deepEqual(await observations.save([{ state: { ...state!, clocks }, facts }]), { rejected: [], lost: [] })
}

/** Adds the entries of the names of certificates that such a release wrote, for each name that presented them. */
async function addFormerEntries(
  { inverseIndex }: Store,
  hold: LockHold,
  names: readonly DomainName[],
  presented: readonly Certificate[],
): Promise<void> {
  const collector = new EventCollector()
  for (const key of presented.flatMap(namedHostKeys))
    for (const each of names) collector.add(`n${key.slice(1)}`, each, startEvent(minute(10)))
  const run = (await inverseIndex.beginRun(hold))!
  const { erasures } = await inverseIndex.portion([run], Buffer.alloc(0), 1)
  assert.equal(await inverseIndex.writeBlocks(hold, run, collector.pack(), erasures), true)
  assert.equal(await inverseIndex.publishRun(hold, run, []), true)
}
