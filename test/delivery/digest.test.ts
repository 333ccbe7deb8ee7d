/** When digests are written, and how they describe each kind of difference. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { nextDigest, retryDigest } from '../../src/delivery/digest-schedule.ts'
import { digestSubject, digestText, summaryOf } from '../../src/delivery/digest-text.ts'
import { sendDueDigests } from '../../src/delivery/sending/digester.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import { parseInstant } from '../../src/values/time.ts'
import { DIFFERENCE_TYPES } from '../../src/values/watch-kind.ts'

import { dns, NOW, seen } from '../store/conformance/world.ts'
import { TESTER } from '../tester.ts'

const at = (text: string) => parseInstant(`2026-11-20T${text}Z`)!
const DAY = 86_400
/** More than a digest counts. */
const MANY_EVENTS = 5_100

test('hourly mail is written at the full hour, daily mail at 06:00 UTC, and a refused one is tried again ever later', () => {
  assert.equal(nextDigest('hourly', at('11:59:59')), at('12:00:00'))
  assert.equal(nextDigest('hourly', at('12:00:00')), at('13:00:00'))
  assert.equal(nextDigest('daily', at('05:59:59')), at('06:00:00'))
  assert.equal(nextDigest('daily', at('06:00:00')), at('06:00:00') + DAY)
  assert.equal(nextDigest('daily', at('23:00:00')), at('06:00:00') + DAY)
  assert.deepEqual(
    [1, 2, 3, 99].map((failures) => retryDigest(failures, 0)),
    [300, 600, 1_200, 21_600],
  )
})

const certificate = {
  sha256: 'ab',
  issuer: 'CA',
  not_before: '',
  not_after: '',
  names: ['a.example', 'b.example'],
  name_count: 9,
}
const SUMMARIES: [object, string][] = [
  [{ type: 'new' }, 'new name'],
  [{ type: 'status', before: 'ok', after: 'nxdomain' }, 'the name no longer exists'],
  [{ type: 'status', before: null, after: 'ok' }, 'the name exists'],
  [
    {
      ...{
        type: 'records',
        record_type: 'MX',
        added: [1, 2, 3, 4].map((priority) => ({ priority, mail_server: 'm' })),
      },
      removed: [{ priority: 5, mail_server: 'm' }],
    },
    'MX + 1 m, + 2 m, + 3 m, + 1 more, − 5 m',
  ],
  [{ type: 'website', before: null, after: { has_website: true, ssl: 'cert' } }, 'website: has website yes, ssl cert'],
  [{ type: 'redirect', before: null, after: 'b.example' }, 'redirects to b.example'],
  [{ type: 'redirect', before: 'b.example', after: null }, 'no longer redirects to b.example'],
  [
    { type: 'certificate', before: null, after: certificate },
    'certificate for a.example, b.example, 7 more, issued by CA',
  ],
  [
    { type: 'certificate', logged_at: '', after: { ...certificate, name_count: 2 } },
    'certificate in a log for a.example, b.example, issued by CA',
  ],
  [{ type: 'certificate', before: 'ab', after: null }, 'no certificate any more'],
  [{ type: 'text', percent: 45 }, '45 % of the words of the start page changed'],
  [{ type: 'limit', events: 100_000 }, '100,000 events today: further ones of this day are left out'],
]

test('each type of difference is described', () => {
  for (const [difference, summary] of SUMMARIES) assert.equal(summaryOf(JSON.stringify([difference])), summary)
  const described = new Set(SUMMARIES.map(([difference]) => (difference as { type: string }).type))
  for (const type of DIFFERENCE_TYPES) assert.ok(described.has(type), type)
})

test('events without a watch or a name have a heading and a line too, and a count that is not complete says so', () => {
  const event = {
    number: 1,
    watch: null,
    name: null,
    time: at('12:00:00'),
    observed_at: null,
    differences: '[{"type":"new"}]',
  }
  const page = 'https://domains.test'
  const all = { events: [event], hasMore: false }
  assert.equal(
    digestText(all, [], page),
    'Your account\n  2026-11-20 12:00:00 UTC new name\n\nAll events: https://domains.test/watches\n',
  )
  const many = { events: Array.from({ length: 5_000 }, () => event), hasMore: true }
  assert.match(digestText(many, [], page), /\nand more than 4900 more: /)
  assert.equal(digestSubject(many, page), 'More than 5000 changes of what you watch at domains.test')
})

test('a digest has the changes that follow thousands of events of a removed watch', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-digest-'))
  const clock = { now: NOW }
  const url = `sqlite:${join(folder, 'store.db')}`
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => clock.now })
  t.after(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  const given = { email: 'a@example.com', role: 'user' as const, plan: 'basic' as const, periods: [], addons: [] }
  const { id } = (await store.ledger.as(TESTER).createAccount(given, NOW))!
  const rule = { kind: 'suffix', threshold: null, types: null } as const
  const noisy = await store.ledger.createWatch(9, id, { ...rule, value: 'noise.example' }, NOW)
  await store.ledger.createWatch(9, id, { ...rule, value: 'a.example' }, NOW)
  await store.ledger.setDigest(id, { period: 'hourly', key: Buffer.alloc(16), seen: 0, due: NOW })
  const observed = (name: string) => seen(name, 1, dns({ A: ['192.0.2.1'] }))
  await ingest(
    store,
    Array.from({ length: MANY_EVENTS }, (_, number) => observed(`n${number}.noise.example`)),
  )
  assert.ok(typeof noisy !== 'string' && (await store.ledger.removeWatch(id, noisy.id)))
  await ingest(store, [observed('x.a.example')])
  const subjects: string[] = []
  const send = async ({ subject }: { subject: string }) => subjects.push(subject) > 0
  const options = { store, holder: 'a', send, publicUrl: 'https://domains.test', onFault: assert.ifError }
  await sendDueDigests(options)
  assert.deepEqual(subjects, ['1 change of what you watch at domains.test'])
  clock.now += DAY
  await sendDueDigests(options)
  assert.equal(subjects.length, 1)
})
