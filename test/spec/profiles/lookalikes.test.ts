/** The lookalikes of a brand: which names are found, in which order, what is known of them, and what is refused. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { addNames } from '../../../src/registrations/add-names.ts'
import { parseName } from '../../../src/values/domain-name.ts'
import { look, ok, site } from '../observations.ts'
import { makeWorld } from '../world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })

const AT = '2026-01-10T10:00:00Z'
const CERTIFICATE = {
  ...{
    sha256: 'a'.repeat(64),
    issuer: 'CN=R11',
    not_before: '2026-01-01T00:00:00Z',
    not_after: '2026-12-31T00:00:00Z',
  },
  ...{ names: ['paypal.com'], key: 'ec-p256' },
}
const LISTED = [
  ...['paypa1.com', 'paypal.net', 'pay-pal.com', 'paypall.com', 'pypal.com', 'login-paypal.com', 'paypalcom.net'],
  ...['pay.pal.com', 'paypal.com.evil.example', 'раураӏ.com', 'pàypal.com', 'mypaypalstory.org', 'other.com'],
  ...['www.paypal.com', 'gone-paypal.org'],
]

before(async () => {
  const text = 'log in to your account and send money to friends and family around the world'
  const https = { ssl: 'valid', certificate: CERTIFICATE }
  const mail = { MX: [{ priority: 10, mail_server: 'mx.example' }] }
  await world.ingest(
    look('paypal.com', { dns: ok({ A: ['192.0.2.1'], ...mail }), web: site({ text, ...https }) }, AT),
    look('paypa1.com', { dns: ok({ A: ['198.51.100.7'], ...mail }), web: site({ text, ...https }) }, AT),
    look(
      'paypal.net',
      { dns: ok({ A: ['192.0.2.1'], MX: [] }), web: site({ has_website: false, redirects_to: 'paypal.com' }) },
      AT,
    ),
    look('pypal.com', { dns: { status: 'nxdomain' } }, AT),
  )
  await world.index()
  const names = (async function* () {
    yield LISTED.map((name) => parseName(name)!)
  })()
  const context = { store: world.store, signal: new AbortController().signal, onAdded: () => {} }
  await addNames(names, { insertsUnknown: true, makesDue: false }, context)
  await world.store.observations.forget(parseName('gone-paypal.org')!)
})

type Row = { name: string; reasons: string[]; score: number; [field: string]: unknown }
type Page = { meta: { next: string | null; query: string; complete: boolean }; result: Row[] }

const get = (query: Record<string, string>) =>
  world.send(`/lookalikes?${new URLSearchParams(query)}`, {
    headers: { Authorization: `Bearer ${token}`, Accept: 'application/json' },
  })
const pageOf = async (query: Record<string, string>) => (await get(query)).body as Page

const namesOf = async (query: Record<string, string>) => (await pageOf(query)).result.map(({ name }) => name)

const EXPECTED: [name: string, score: number, reasons: string[]][] = [
  ['раураӏ.com', 95, ['confusable']],
  ['paypal.net', 90, ['suffix']],
  ['pàypal.com', 88, ['diacritic']],
  ['paypa1.com', 75, ['homoglyph']],
  ['login-paypal.com', 72, ['combined']],
  ['pay-pal.com', 70, ['hyphen']],
  ['paypal.com.evil.example', 70, ['subdomain']],
  ['paypalcom.net', 70, ['suffix_merged', 'suffix']],
  ['pay.pal.com', 65, ['dot']],
  ['paypall.com', 65, ['repetition']],
  ['pypal.com', 55, ['omission']],
  ['mypaypalstory.org', 10, ['contains']],
]

test('known names that can be taken for the brand come with reasons, the highest score first', async () => {
  const { meta, result } = await pageOf({ of: 'PayPal.com' })
  assert.deepEqual(meta, {
    ...{ query: 'paypal.com', complete: true, limit: 100, max_limit: 500, rcode: 200, msg: 'ok', next: null },
  })
  assert.deepEqual(
    result.map(({ name, score, reasons }) => [name, score, reasons]),
    EXPECTED.map(([name, ...rest]) => [parseName(name), ...rest]),
  )
})

test('a row says what is known of the name, and null of what was not observed', async () => {
  const { result } = await pageOf({ of: 'paypal.com' })
  const row = (name: string) => result.find((each) => each.name === name)
  assert.deepEqual(row('paypa1.com'), {
    ...{ name: 'paypa1.com', reasons: ['homoglyph'], score: 75, first_seen: AT, observed: AT },
    ...{ resolves: 'yes', mail: 'yes', website: 'yes', redirects_to: null, similarity: 1, shares: ['certificate'] },
  })
  assert.deepEqual(row('paypal.net'), {
    ...{ name: 'paypal.net', reasons: ['suffix'], score: 90, first_seen: AT, observed: AT },
    ...{
      resolves: 'yes',
      mail: 'no',
      website: 'no',
      redirects_to: 'paypal.com',
      similarity: null,
      shares: ['address'],
    },
  })
  assert.deepEqual(row('pypal.com'), {
    ...{ name: 'pypal.com', reasons: ['omission'], score: 55, first_seen: null, observed: AT },
    ...{ resolves: 'no', mail: null, website: null, redirects_to: null, similarity: null, shares: [] },
  })
  assert.deepEqual(row('pay-pal.com'), {
    ...{ name: 'pay-pal.com', reasons: ['hyphen'], score: 70, first_seen: null, observed: null },
    ...{ resolves: null, mail: null, website: null, redirects_to: null, similarity: null, shares: [] },
  })
})

test('the brand can be a URL, a host below its domain, or its U-label', async () => {
  const all = EXPECTED.map(([name]) => parseName(name)!)
  assert.deepEqual(await namesOf({ of: 'https://www.paypal.com/login' }), all)
  const ofLogin = await pageOf({ of: 'login.paypal.com' })
  assert.deepEqual(ofLogin.result[3], { ...ofLogin.result[3], name: 'login-paypal.com', score: 80 })
  assert.deepEqual(ofLogin.result[3]!.reasons, ['subdomain_merged', 'combined'])
  assert.deepEqual((await namesOf({ of: 'pàypal.com' })).includes('paypal.net'), true)
})

test('pages follow each other, and a cursor belongs to its brand', async () => {
  for (const limit of [1, 2, 5]) {
    const found: string[] = []
    let next = ''
    do {
      const page = await pageOf({ of: 'paypal.com', limit: String(limit), ...(next && { next }) })
      assert.ok(page.result.length <= limit)
      found.push(...page.result.map(({ name }) => name))
      next = page.meta.next ?? ''
    } while (next !== '')
    assert.deepEqual(
      found,
      EXPECTED.map(([name]) => parseName(name)),
    )
  }
  const { meta } = await pageOf({ of: 'paypal.com', limit: '2' })
  assert.equal((await refusalOf({ of: 'paypal.net', next: meta.next! }))[1], 'cursor_mismatch')
})

async function refusalOf(query: Record<string, string>) {
  const { status, body } = await get(query)
  const { error, msg } = body as { error: string; msg: string }
  return [status, error, msg] as const
}

async function usedCalls(): Promise<number> {
  const { body } = await world.send('/account/quota', { headers: { Authorization: `Bearer ${token}` } })
  return (body as { used: number }).used
}

test('what has no lookalikes is refused with the reason, and costs nothing', async () => {
  const used = await usedCalls()
  for (const [query, message] of [
    [{}, /send its domain as "of"/],
    [{ of: 'paypal' }, /"of" is not a domain name: the name has no dot/],
    [{ of: 'co.uk' }, /co\.uk is a public suffix/],
    [{ of: 'hp.com' }, /The label "hp" of hp\.com is too short/],
  ] as const) {
    const [status, error, msg] = await refusalOf(query as Record<string, string>)
    assert.deepEqual([status, error], [400, 'brand_invalid'])
    assert.match(msg, message)
  }
  assert.equal(await usedCalls(), used)
  assert.equal((await refusalOf({ of: 'nobody-has-this-name.com' }))[1], 'no_data')
  assert.equal(await usedCalls(), used + 1)
})

test('rows come as CSV too', async () => {
  const response = await fetch(`${world.address}/lookalikes?of=paypal.com&limit=2`, {
    headers: { Authorization: `Bearer ${token}`, Accept: 'text/csv' },
  })
  const [head, , second] = (await response.text()).split('\n')
  assert.equal(head, 'name,reasons,score,first_seen,observed,resolves,mail,website,redirects_to,similarity,shares')
  assert.equal(second, `paypal.net,suffix,90,${AT},${AT},yes,no,no,paypal.com,,address`)
})
