/** A forgotten name is in no answer about others, and answers about it are those about an unknown name. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildDropped } from '../../src/jobs/daily.ts'
import { removeFromFiles } from '../../src/jobs/forget-files.ts'
import { forgetName, removeCertificateEvents } from '../../src/store/forget.ts'
import { parseName } from '../../src/values/domain-name.ts'
import { batchesOf, DAY, makeDaily, runOf } from '../jobs/built.ts'
import { look, NXDOMAIN, ok, site } from './observations.ts'
import { makeWorld } from './world.ts'

/** The label that only the forgotten names have. Another name is their brand, and has the same addresses and records. */
const LABEL = 'dropme'
const GONE = parseName('shop-dropme.com')!
const REDIRECTING = parseName('dropme-shop.com')!
const OTHER = 'shop.com'
const SHA256 = 'ab'.repeat(32)
const CERTIFICATE = {
  sha256: SHA256,
  issuer: 'CN=A',
  not_before: '2026-01-01T00:00:00Z',
  not_after: '2027-01-01T00:00:00Z',
}

const world = await makeWorld()
const { token, account } = await world.account({ plan: 'premium', periods: ['premium:2026-01-01..'] })
const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }

/** Questions whose answers have the name while it is known. None has it in its own text. */
const QUESTIONS: readonly [path: string, body?: object][] = [
  ['/v1.0/redirect', { token, query: OTHER }],
  ['/v1.0/reverseip', { token, query: OTHER }],
  ['/v1.0/reverseip', { token, query: '192.0.2.1' }],
  ['/v1.0/similar', { token, query: OTHER }],
  [`/domain/${OTHER}/redirects`],
  [`/certificate/${SHA256}`],
  ['/ip/192.0.2.1'],
  ['/ip/192.0.2.0/24'],
  ['/search?q=drop'],
  ['/search?q=*.com'],
  [`/registered?date=${DAY}`],
  [`/dropped?date=${DAY}`],
  [`/lookalikes?of=${OTHER}`],
  ['/events?after=0'],
  ['/watches/preview', { kind: 'suffix', value: 'com' }],
  ['/pdns/query/192.0.2.1'],
  ['/dnsdb/v2/lookup/rdata/ip/192.0.2.1'],
  ['/dnsdb/v2/lookup/rdata/name/ns.example'],
  ['/dnsdb/v2/glob/rrnames/*drop*'],
]

/** Questions about a name. */
const about = (name: string): [path: string, body?: object][] => [
  ...['lookup', 'redirect', 'reverseip', 'dnshistory', 'similar'].map((endpoint): [string, object] => [
    `/v1.0/${endpoint}`,
    { token, query: name },
  ]),
  ...['', '/web', '/redirects', '/certificates', '/named-certificates'].map((part): [string] => [
    `/domain/${name}${part}`,
  ]),
  [`/pdns/query/${name}`],
  [`/dnsdb/v2/lookup/rrset/name/${name}`],
  [`/dnsdb/v2/lookup/rdata/name/${name}`],
]

async function ask([path, body]: [path: string, body?: object]): Promise<string> {
  const response = await fetch(world.address + path, {
    headers,
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  return `${response.status} ${await response.text()}`
}

async function fill(): Promise<void> {
  const { fileStore, store, clock } = world
  await store.ledger.createWatch(
    9,
    account.id,
    { kind: 'suffix', value: 'com', threshold: null, types: null },
    clock.now,
  )
  const dns = ok({ A: ['192.0.2.1'], NS: ['ns.example'], MX: [{ priority: 1, mail_server: `mx.${GONE}` }] })
  const page = { text: 'A shop that sells shoes.' }
  await world.ingest(
    look(OTHER, { dns: ok({ A: ['192.0.2.1'], NS: ['ns.example'] }), web: site(page) }, '2026-11-18T10:00:00Z'),
    look(GONE, { dns, web: site(page) }, '2026-11-18T10:00:00Z'),
    look(REDIRECTING, { dns, web: site({ has_website: false, redirects_to: OTHER }) }, '2026-11-18T10:00:00Z'),
    look(GONE, { dns: NXDOMAIN }, '2026-11-19T10:00:00Z'),
    look(
      GONE,
      { dns, web: { ...site(page), certificate: { ...CERTIFICATE, names: [OTHER], key: 'ec-p256' } } },
      '2026-11-19T12:00:00Z',
    ),
    look(
      OTHER,
      { web: { ...site(page), certificate: { ...CERTIFICATE, names: [OTHER], key: 'ec-p256' } } },
      '2026-11-19T12:00:00Z',
    ),
  )
  await world.index()
  await world.serve()
  await makeDaily(world, DAY, [GONE, OTHER], { qualityBounds: null })
  await buildDropped(DAY, { fileStore, ...store, now: clock.now, names: batchesOf([GONE, OTHER]) }, runOf())
}

test('a forgotten name is in no answer, and is as unknown as a name that never was', async () => {
  await fill()
  for (const question of QUESTIONS)
    assert.ok((await ask(question)).includes(LABEL), `${question[0]}: ${(await ask(question)).slice(0, 900)}`)
  for (const name of [GONE, REDIRECTING]) assert.equal(await forgetName(world.store, name), true)
  await removeCertificateEvents(world.store, (host) => host === GONE)
  const removal = {
    fileStore: world.fileStore,
    isForgotten: (name: string) => name === GONE,
    mode: 'rebuild',
    onFile: () => {},
  } as const
  await removeFromFiles('daily', removal, runOf())
  for (const question of QUESTIONS) assert.doesNotMatch(await ask(question), new RegExp(LABEL), question[0])
  const unknown = 'nobody-knows.com'
  const never = about(unknown)
  for (const [index, question] of about(GONE).entries())
    assert.equal((await ask(question)).replaceAll(GONE, unknown), await ask(never[index]!), question[0])
})
