/** A world with the web page, domains with a history, files, and an account with a password. */

import { randomBytes } from 'node:crypto'
import type { Account } from '../../../src/accounts/account.ts'
import { MAX_TOKEN_NAME_LENGTH, makeToken, newTokenRecord, TOKEN_BYTES } from '../../../src/accounts/token.ts'
import { preparePageBundle } from '../../../src/api/page/bundle.ts'
import { WebPage } from '../../../src/api/page/page.ts'
import type { Finding } from '../../../src/server/doctor/finding.ts'
import { saveReport } from '../../../src/server/doctor/reports.ts'
import { addDays, type Day } from '../../../src/values/time.ts'
import { openMailbox } from '../../app/mailbox.ts'
import { listOf, publish } from '../../spec/files/files.ts'
import { look, NXDOMAIN, ok, redirecting, site } from '../../spec/observations.ts'
import { makeWorld, type World } from '../../spec/world.ts'
import { TESTER } from '../../tester.ts'
import { fillWatches } from './watched.ts'

/** A record and a page text that would be markup if they were not escaped. */
export const HOSTILE = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'

const HUB = 'harbour-books.example'

const pageText = (name: string) =>
  'Second-hand books and sea charts from the old harbour. Atlases, logbooks, letters of captains and keepers of ' +
  `lighthouses, bought and sold since 1962. Visit the shop of ${name} at the quay, or order by post.`

const mx = (priority: number, mail_server: string) => ({ priority, mail_server })

const SOA = {
  primary_nameserver: 'ns1.new-host.example',
  admin_email: 'hostmaster@new-host.example',
  serial: 2026111901,
  refresh_seconds: 7200,
  retry_seconds: 3600,
  expire_seconds: 1209600,
  minimum_ttl_seconds: 300,
}

/** The zone of the hub over the years. */
const HISTORY: readonly (readonly [at: string, records: Record<string, unknown[]>])[] = [
  ['2021-03-04T08:00:00Z', { A: ['192.0.2.10'], NS: ['ns1.old-host.example', 'ns2.old-host.example'], MX: [] }],
  ['2022-01-20T08:00:00Z', { MX: [mx(10, 'mx.old-host.example')], TXT: [['v=spf1 mx -all']] }],
  ['2022-11-02T08:00:00Z', { A: ['198.51.100.7'], AAAA: ['2001:db8::7'] }],
  ['2023-06-15T08:00:00Z', { NS: ['ns1.new-host.example', 'ns2.new-host.example'] }],
  ['2024-02-01T08:00:00Z', { A: ['198.51.100.7', '198.51.100.8'], TXT: [['v=spf1 mx -all'], ['site-check=4f2a']] }],
  ['2024-09-09T08:00:00Z', { MX: [], TXT: [['v=spf1 -all']] }],
  [
    '2025-03-21T08:00:00Z',
    { MX: [mx(10, 'mx1.mail.example'), mx(20, 'mx2.mail.example')], TXT: [['v=spf1 mx -all'], [HOSTILE]] },
  ],
  ['2026-06-30T08:00:00Z', { A: ['198.51.100.7'], AAAA: ['2001:db8::7', '2001:db8::8'] }],
  ['2026-11-19T03:04:05Z', { SOA: [SOA], CNAME: [] }],
]

const HUB_SITE = {
  redirect_to_https: true,
  ssl: 'valid',
  social_accounts: [
    { network: 'x', type: 'x', username: 'harbourbooks', url: 'https://x.com/harbourbooks' },
    {
      network: 'linkedin',
      type: 'linkedin_company',
      username: 'harbour-books',
      url: 'https://www.linkedin.com/company/harbour-books',
    },
  ],
}

const FORMER_CERTIFICATE = {
  sha256: '1f'.repeat(32),
  issuer: 'CN=Old Test CA,O=Test Authority,C=NL',
  not_before: '2020-01-01T00:00:00Z',
  not_after: '2025-01-01T00:00:00Z',
  names: [HUB],
  key: 'rsa-2048',
}
/** The certificate that the hub and another domain present. */
export const HUB_CERTIFICATE = {
  sha256: 'c4'.repeat(32),
  issuer: 'CN=Test CA R3,O=Test Authority,C=NL',
  not_before: '2025-01-01T00:00:00Z',
  not_after: '2027-01-01T00:00:00Z',
  names: [`*.${HUB}`, HUB, 'sea-charts.example'],
  key: 'ec-p256',
}

/** The domains that share an address with the hub. */
const NEIGHBOURS = Array.from({ length: 130 }, (_, index) => `shop-${String(index + 1).padStart(3, '0')}.example`)

/** A domain with more states than a page of the plan Basic has. */
export const BUSY = 'busy.example'
/** A domain with letters outside ASCII. */
export const UNICODE = { name: 'xn--mnchen-3ya.example', unicode: 'münchen.example' }

/** The longest name: 253 characters. */
export const LONG = `${['a', 'b', 'c'].map((letter) => letter.repeat(63)).join('.')}.${'d'.repeat(53)}.example`
/** A registrable domain with the longest label. */
export const LONG_TARGET = `${'t'.repeat(63)}.example`
/** An address as long as one can be, that `LONG` and its neighbours have. */
export const LONG_ADDRESS = '2001:db8:1111:2222:3333:4444:5555:6666'
/** Names as long as `LONG` that differ in their first letters. */
const longNames = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 10}${LONG.slice(prefix.length + 2)}`)
/** A certificate with long names and the longest issuer. */
export const LONG_CERTIFICATE = {
  ...HUB_CERTIFICATE,
  sha256: 'd8'.repeat(32),
  issuer: `CN=${'i'.repeat(1_021)}`,
  names: [`*.${LONG}`, LONG, ...longNames('alt', 30)],
}
const LONG_RECORDS = {
  A: Array.from({ length: 30 }, (_, index) => `198.51.100.${200 + index}`),
  AAAA: [
    LONG_ADDRESS,
    ...Array.from({ length: 29 }, (_, index) => `2001:db8:1111:2222:3333:4444:5555:${7000 + index}`),
  ],
  CNAME: [`alias${LONG.slice(5)}`],
  MX: longNames('mail', 30).map((host, index) => mx(65_000 + index, host)),
  NS: longNames('ns', 30),
  TXT: Array.from({ length: 30 }, (_, index) =>
    index === 0 ? Array.from({ length: 16 }, () => 'x'.repeat(250)) : [`${index}${'x'.repeat(253)}`],
  ),
  SOA: [{ ...SOA, primary_nameserver: LONG, admin_email: `hostmaster@${LONG.slice(64)}`, serial: 4_294_967_295 }],
}

/** What the doctor found: one finding of each state, one with long texts. */
const FINDINGS: Finding[] = [
  { subject: 'store', state: 'ok', message: 'SQLite, answers', advice: null },
  { subject: 'mail', state: 'off', message: 'DOMAINDEX_SMTP is not set', advice: null },
  { subject: 'backup', state: 'warning', message: 'the last one was 9 days ago', advice: 'run domaindex backup' },
  { subject: `files in s3://${LONG}`, state: 'fault', message: `${LONG} is empty`, advice: `mount ${LONG}` },
]

type Mailbox = Awaited<ReturnType<typeof openMailbox>>
/** The address in mails. */
export const MAILED_SITE = 'https://domains.test'

export type Site = { world: World; hub: string; account: Account; mailbox: Mailbox }

/** Everything that the pages show. The account is Premium with both add-ons. */
export async function makeSite(): Promise<Site> {
  const world = await makeWorld()
  world.page = new WebPage(await preparePageBundle())
  const mailbox = await openMailbox()
  await world.serve(world.store, undefined, { smtp: mailbox.url, from: 'service@domains.test', publicUrl: MAILED_SITE })
  await fillStore(world)
  await publishFiles(world)
  await saveReport(world.store, FINDINGS)
  const periods = ['basic:2026-01-10..2026-06-30', 'premium:2026-09-01..']
  const known = await world.account({ periods, addons: ['export', 'enriched'] })
  await fillWatches(world, known, HUB_CERTIFICATE)
  return { world, hub: HUB, account: known.account, mailbox }
}

async function fillStore(world: World): Promise<void> {
  let records: Record<string, unknown[]> = {}
  for (const [at, changed] of HISTORY) {
    records = { ...records, ...changed }
    const certificate = at < '2025' ? FORMER_CERTIFICATE : HUB_CERTIFICATE
    const web = site({ ...HUB_SITE, certificate, text: pageText(HUB) })
    await world.ingest(look(HUB, { dns: ok(records), web }, at))
  }
  await world.ingest(
    ...NEIGHBOURS.map((name) => look(name, { dns: ok({ A: ['198.51.100.7'], AAAA: [] }) })),
    ...['harbour-book.example', 'old-harbour-books.example', 'harbourbooks.example'].map((name) =>
      redirecting(name, HUB),
    ),
    ...[
      { name: 'sea-charts.example', presented: { ssl: 'valid', certificate: HUB_CERTIFICATE } },
      { name: 'quay-letters.example', presented: {} },
    ].map(({ name, presented }) =>
      look(name, { dns: ok({ A: ['203.0.113.5'], AAAA: [] }), web: site({ ...presented, text: pageText(name) }) }),
    ),
    redirecting('moved-away.example', HUB),
    look('dropped.example', { dns: ok({ A: ['192.0.2.99'] }) }, '2026-01-01T00:00:00Z'),
    look('dropped.example', { dns: NXDOMAIN }),
    look('bare.example'),
    look(UNICODE.name, { dns: ok({ A: ['192.0.2.55'] }) }),
    ...Array.from({ length: 12 }, (_, index) =>
      look(BUSY, { dns: ok({ A: [`192.0.2.${index + 1}`] }) }, `2026-11-19T00:${String(index + 10)}:00Z`),
    ),
  )
  await fillLongValues(world)
  await world.index()
}

/** An account with the longest address and 30 tokens with the longest names, one of which made calls. */
export async function makeLongAccount({ world }: Site): Promise<Account> {
  const email = `${'m'.repeat(64)}@${LONG.slice(64)}`
  const known = await world.account({ email, plan: 'premium' })
  const ledger = world.store.ledger.as(TESTER)
  for (let index = 0; index < 30; index++) {
    const token = makeToken(randomBytes(TOKEN_BYTES))
    const name = `${index}${'n'.repeat(MAX_TOKEN_NAME_LENGTH - 2)}`
    await ledger.createToken(known.account.id, newTokenRecord(token, name, null), world.clock.now)
    if (index === 0) await world.ask('lookup', { token, query: HUB })
  }
  const rule = { kind: 'suffix', value: LONG.slice(LONG.indexOf('.') + 1), threshold: null, types: null } as const
  await world.store.ledger.createWatch(1, known.account.id, rule, world.clock.now)
  await world.ingest(look(`${'w'.repeat(LONG.indexOf('.'))}.${rule.value}`, { dns: ok(LONG_RECORDS) }))
  return known.account
}

/** Values as long and as many as they can be, with two changes on one day. */
async function fillLongValues(world: World): Promise<void> {
  const accounts = ['facebook', 'instagram', 'x', 'linkedin', 'youtube'].map((network) => ({
    network,
    type: network === 'linkedin' ? 'linkedin_company' : network,
    username: 'u'.repeat(100),
    url: `https://${network}.example/${'u'.repeat(100)}`,
  }))
  const web = (name: string) =>
    site({
      redirect_to_https: true,
      ssl: 'valid',
      certificate: LONG_CERTIFICATE,
      text: pageText(name),
      social_accounts: accounts,
    })
  await world.ingest(
    look(
      LONG,
      { dns: ok({ A: ['198.51.100.199'], TXT: [Array.from({ length: 16 }, () => 'y'.repeat(250))] }), web: web(LONG) },
      '2026-11-19T00:10:00Z',
    ),
    look(LONG, { dns: ok(LONG_RECORDS), web: web(LONG) }, '2026-11-19T12:20:00Z'),
    ...longNames('shop', 30).map((name) => look(name, { dns: ok({ AAAA: [LONG_ADDRESS] }), web: web(name) })),
    ...longNames('old', 30).map((name) => redirecting(name, LONG_TARGET)),
  )
}

/** Daily files of some weeks with two days without a file, a follow-up, and both snapshots. */
async function publishFiles(world: World): Promise<void> {
  const first = '2026-10-20' as Day
  for (const [index, day] of Array.from({ length: 31 }, (_, each) => addDays(first, each)).entries()) {
    if (day === '2026-11-08' || day === '2026-11-09' || day > '2026-11-19') continue
    await publish(world, `${day}.txt.gz`, listOf(`new-${index}.example`), { rows: 9_400 + ((index * 977) % 3_100) })
  }
  await publish(world, '2026-11-09.txt.gz', listOf('few.example'), { rows: 3, held: '3 rows, 0.01 times the median' })
  await publish(world, '2026-11-05-followup-7.csv.gz', listOf('domain'), { rows: 9_876 })
  await publish(world, 'domains-2026-11-20.txt.gz', listOf('a.example'), { rows: 1_234_567 })
  await publish(world, 'domains-enriched-2026-11-20.csv.gz', listOf('domain'), { rows: 1_234_567 })
}
