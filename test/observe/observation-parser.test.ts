/** Parsing an observation of a file: what is accepted, what is rejected and why, and the limits. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Observation } from '../../src/observe/observation.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import { lines } from './lines.ts'

const DNS = { status: 'ok' }
const WEB = {
  has_website: true,
  redirect_to_https: true,
  redirect_to_www: false,
  only_with_www: false,
  redirects_to: null,
  ssl: 'valid',
  social_accounts: [{ network: 'x', type: 'x', username: 'example', url: 'https://x.com/example' }],
  text: "The start page's visible text.",
}

const lineOf = (given: object) =>
  JSON.stringify({ domain: 'example.com', observed_at: '2026-11-20T03:04:05Z', ...given })

function accepted(given: object): Observation {
  const observation = parseObservation(lineOf(given))
  if (typeof observation === 'string') assert.fail(observation)
  return observation
}

const webOf = (given: object) => accepted({ web: { ...WEB, ...given } }).web!

function refused(given: object): string {
  const reason = parseObservation(lineOf(given))
  if (typeof reason !== 'string') assert.fail('it was accepted')
  return reason
}

test('the example of the format is parsed, canonical in every part', () => {
  const line =
    '{"domain":"Example.COM.","observed_at":"2026-11-20T04:04:05.9+01:00","dns":{"status":"ok","A":["93.184.216.34"],' +
    '"AAAA":["2606:2800:0220:1:248:1893:25C8:1946"],"NS":["b.iana-servers.net.","A.iana-servers.net"],"CNAME":[],' +
    '"MX":[{"priority":10,"mail_server":"mx.example.com"}],"TXT":[["v=spf1 -all"],["part one","part two"]],' +
    '"SOA":[{"primary_nameserver":"ns.icann.org","admin_email":"noc@dns.icann.org","serial":2026111901,' +
    '"refresh_seconds":7200,"retry_seconds":3600,"expire_seconds":1209600,"minimum_ttl_seconds":null}]}}'
  assert.deepEqual(parseObservation(line), {
    domain: 'example.com',
    observed_at: Date.parse('2026-11-20T03:04:05Z') / 1000,
    dns: {
      status: 'ok',
      records: {
        A: [{ ipv4_address: '93.184.216.34' }],
        AAAA: [{ ipv6_address: '2606:2800:220:1:248:1893:25c8:1946' }],
        NS: [{ nameserver: 'a.iana-servers.net' }, { nameserver: 'b.iana-servers.net' }],
        CNAME: [],
        MX: [{ priority: 10, mail_server: 'mx.example.com' }],
        TXT: [
          { text: 'part onepart two', parts: ['part one', 'part two'] },
          { text: 'v=spf1 -all', parts: ['v=spf1 -all'] },
        ],
        SOA: [
          {
            primary_nameserver: 'ns.icann.org',
            admin_email: 'noc@dns.icann.org',
            serial: 2026111901,
            refresh_seconds: 7200,
            retry_seconds: 3600,
            expire_seconds: 1209600,
          },
        ],
      },
    },
    web: null,
  })
})

test('dns and web are optional: absent or null means not probed', () => {
  const bare = { domain: 'example.com', observed_at: 1795143845, dns: null, web: null }
  assert.deepEqual(accepted({}), bare)
  assert.deepEqual(accepted({ dns: null, web: null }), bare)
})

test('an absent record type was not queried, and an empty list was queried and is absent', () => {
  assert.deepEqual(accepted({ dns: { status: 'ok', A: [] } }).dns, { status: 'ok', records: { A: [] } })
})

test('with a status other than ok, record lists are ignored', () => {
  for (const status of ['nxdomain', 'servfail']) {
    assert.deepEqual(accepted({ dns: { status, A: 'nonsense', MX: [1] } }).dns, { status, records: {} })
  }
})

test('unknown keys anywhere are ignored', () => {
  const given = { extra: 1, dns: { ...DNS, PTR: [1] }, web: { ...WEB, title: 'x' } }
  assert.deepEqual(accepted(given), accepted({ dns: DNS, web: WEB }))
  const account = { ...WEB.social_accounts[0], followers: 5 }
  assert.deepEqual(webOf({ social_accounts: [account] }), webOf({}))
})

test('redirects_to is stored as its registrable domain, or null if that is the domain’s own', () => {
  assert.equal(webOf({ redirects_to: 'WWW.Shop.example.CO.UK.' }).redirects_to, 'example.co.uk')
  assert.equal(webOf({ redirects_to: 'someone.github.io' }).redirects_to, 'someone.github.io')
  assert.equal(webOf({ redirects_to: 'www.example.com' }).redirects_to, null)
  assert.equal(webOf({ redirects_to: 'www.example.com' }).has_website, true)
})

test('the host in redirects_to is stored, except the domain itself and its www. host', () => {
  assert.equal(webOf({ redirects_to: 'WWW.Shop.example.CO.UK.' }).redirect_host, 'www.shop.example.co.uk')
  assert.equal(webOf({ redirects_to: 'example.org' }).redirect_host, 'example.org')
  assert.equal(webOf({ redirects_to: 'shop.example.com' }).redirect_host, 'shop.example.com')
  for (const given of ['example.com', 'www.example.com', null])
    assert.ok(!('redirect_host' in webOf({ redirects_to: given })))
})

test('without a website, or with redirects_to, there are no social accounts and no text', () => {
  for (const given of [{ has_website: false }, { redirects_to: 'example.org' }]) {
    const { has_website, social_accounts, text } = webOf(given)
    assert.deepEqual({ has_website, social_accounts, text }, { has_website: false, social_accounts: [], text: null })
  }
})

test('absent, null or empty text means no start-page text', () => {
  for (const text of [undefined, null, '']) assert.equal(webOf({ text }).text, null)
})

test('social accounts are in page order, each URL once', () => {
  const account = (username: string, url: string) => ({ network: 'x', type: 'x', username, url })
  const given = [account('b', 'https://x.com/b'), account('a', 'https://x.com/a'), account('B', 'https://x.com/b')]
  assert.deepEqual(webOf({ social_accounts: given }).social_accounts, given.slice(0, 2))
})

test('limits: values at them are accepted, and values above them are rejected', () => {
  const accounts = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...WEB.social_accounts[0], url: `https://x.com/${index}` }))
  const addresses = (count: number) => Array.from({ length: count }, (_, index) => `10.0.${index >> 8}.${index & 255}`)
  assert.equal(webOf({ social_accounts: accounts(100) }).social_accounts.length, 100)
  assert.match(refused({ web: { ...WEB, social_accounts: accounts(101) } }), /^web\.social_accounts: .*100/)
  assert.equal(webOf({ text: 'é'.repeat(32_768) }).text?.length, 32_768)
  assert.match(refused({ web: { ...WEB, text: `${'é'.repeat(32_768)}x` } }), /^web\.text: .*65536 bytes/)
  assert.equal(accepted({ dns: { ...DNS, A: addresses(256) } }).dns?.records.A?.length, 256)
  assert.match(refused({ dns: { ...DNS, A: addresses(257) } }), /^dns\.A: .*256/)
})

const CERTIFICATE = {
  sha256: 'AB'.repeat(32),
  issuer: "CN=R11,O=Let's Encrypt,C=US",
  not_before: '2026-11-01T00:00:00Z',
  not_after: '2027-01-30T23:59:59+00:00',
  names: ['WWW.example.com', '*.Example.com', 'example.com', 'example.com'],
  key: 'ec-p256',
}

test('a certificate is parsed, canonical in every part; null means that none was presented, and absent not looked at', () => {
  assert.deepEqual(webOf({ certificate: CERTIFICATE }).certificate, {
    ...CERTIFICATE,
    sha256: 'ab'.repeat(32),
    not_before: Date.parse('2026-11-01') / 1000,
    not_after: Date.parse('2027-01-31') / 1000 - 1,
    names: ['*.example.com', 'example.com', 'www.example.com'],
  })
  assert.equal(webOf({ certificate: null }).certificate, null)
  assert.ok(!('certificate' in webOf({})))
  const alone = accepted({ web: { certificate: CERTIFICATE } })
  assert.deepEqual(
    [alone.web, alone.presented?.sha256],
    [null, webOf({ certificate: CERTIFICATE }).certificate?.sha256],
  )
  assert.match(refused({ web: { certificate: CERTIFICATE, ssl: 'valid' } }), /^web\./)
  const names = Array.from({ length: 101 }, (_, index) => `n${index}.example`)
  assert.equal(webOf({ certificate: { ...CERTIFICATE, names: names.slice(1) } }).certificate?.names.length, 100)
  assert.match(refused({ web: { ...WEB, certificate: { ...CERTIFICATE, names } } }), /^web\.certificate\.names: .*100/)
})

for (const [field, wrong] of [
  ['sha256', 'ab'],
  ['issuer', 5],
  ['issuer', 'x'.repeat(1025)],
  ['issuer', 'a\u0000'],
  ['not_before', 1795143845],
  ['not_after', 'never'],
  ['names', 'example.com'],
  ['names[1]', ['example.com', '*']],
  ['key', 'RSA 2048'],
] as const) {
  test(`a certificate with ${field} ${JSON.stringify(wrong).slice(0, 40)} is rejected with the field`, () => {
    const certificate = { ...CERTIFICATE, [field.replace('[1]', '')]: wrong }
    assert.ok(refused({ web: { ...WEB, certificate } }).startsWith(`web.certificate.${field}: must`))
  })
}

const WRONG: [given: object, field: string][] = [
  [{ domain: undefined }, 'domain'],
  [{ domain: 5 }, 'domain'],
  [{ domain: 'localhost' }, 'domain'],
  [{ domain: 'https://example.com/' }, 'domain'],
  [{ observed_at: undefined }, 'observed_at'],
  [{ observed_at: 1795143845 }, 'observed_at'],
  [{ observed_at: '2026-11-20T03:04:05' }, 'observed_at'],
  [{ dns: [] }, 'dns'],
  [{ dns: {} }, 'dns.status'],
  [{ dns: { status: 'OK' } }, 'dns.status'],
  [{ dns: { ...DNS, A: null } }, 'dns.A'],
  [{ dns: { ...DNS, A: ['10.0.0.1', '10.0.0.256'] } }, 'dns.A[1]'],
  [{ dns: { ...DNS, MX: [{ mail_server: 'mx.example.com' }] } }, 'dns.MX[0].priority'],
  [{ web: 'yes' }, 'web'],
  [{ web: { ...WEB, has_website: 'yes' } }, 'web.has_website'],
  [{ web: { ...WEB, redirect_to_https: undefined } }, 'web.redirect_to_https'],
  [{ web: { ...WEB, redirect_to_www: null } }, 'web.redirect_to_www'],
  [{ web: { ...WEB, only_with_www: 0 } }, 'web.only_with_www'],
  [{ web: { ...WEB, redirects_to: undefined } }, 'web.redirects_to'],
  [{ web: { ...WEB, redirects_to: '10.0.0.1' } }, 'web.redirects_to'],
  [{ web: { ...WEB, ssl: 'none' } }, 'web.ssl'],
  [{ web: { ...WEB, social_accounts: undefined } }, 'web.social_accounts'],
  [{ web: { ...WEB, social_accounts: [null] } }, 'web.social_accounts[0]'],
  [{ web: { ...WEB, social_accounts: [{ network: 'x', type: 'x', username: 'a' }] } }, 'web.social_accounts[0].url'],
  [{ web: { ...WEB, text: ['a'] } }, 'web.text'],
]

for (const [given, field] of WRONG) {
  test(`${JSON.stringify(given, (_, value) => value ?? null)} is rejected with the field ${field}`, () => {
    assert.ok(refused(given).startsWith(`${field}: `), refused(given))
  })
}

test('a line that is not a JSON object is rejected in plain words', () => {
  assert.match(parseObservation('{"domain":') as string, /^must be JSON: /)
  for (const line of ['null', '[]', '"x"', '7']) assert.equal(parseObservation(line), 'must be a JSON object')
})

test('a reason has no control characters and stays short, whatever the line contains', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => {
      for (const line of [text, `{"a":${text}`, JSON.stringify({ domain: text })]) {
        const reason = parseObservation(line)
        if (typeof reason === 'string') assert.match(reason, /^\P{Cc}{1,500}$/u)
      }
    }),
  )
})

test('a key __proto__ is like any other', () => {
  assert.match(
    parseObservation('{"__proto__":{"domain":"example.com","observed_at":"2026-11-20T03:04:05Z"}}') as string,
    /^domain/,
  )
  assert.equal(({} as { domain?: string }).domain, undefined)
})

test('no text and no JSON causes an exception, however deep', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseObservation(text)))
  fc.assert(fc.property(fc.json(), (line) => void parseObservation(line)))
  const web = fc.record({ ...Object.fromEntries(Object.keys(WEB).map((key) => [key, fc.jsonValue()])) })
  const dns = fc.record({ status: fc.constant('ok'), A: fc.jsonValue(), MX: fc.jsonValue(), TXT: fc.jsonValue() })
  fc.assert(fc.property(fc.record({ dns, web }), (given) => void parseObservation(lineOf(given))))
  assert.match(parseObservation('['.repeat(500_000)) as string, /^must be JSON/)
  assert.equal(parseObservation('['.repeat(500_000) + ']'.repeat(500_000)), 'must be a JSON object')
})

test('an observation that is parsed, written and parsed again is the same', () => {
  fc.assert(
    fc.property(lines, (line) => {
      const observation = parseObservation(line)
      if (typeof observation === 'string') assert.fail(`${observation}: ${line}`)
      assert.deepEqual(parseObservation(lineAgain(observation)), observation)
    }),
  )
})

/** A canonical observation as a line of a file. */
function lineAgain({ domain, observed_at, dns, web }: Observation): string {
  const { A, AAAA, NS, CNAME, MX, TXT, SOA } = dns?.records ?? {}
  const records = {
    A: A?.map(({ ipv4_address }) => ipv4_address),
    AAAA: AAAA?.map(({ ipv6_address }) => ipv6_address),
    NS: NS?.map(({ nameserver }) => nameserver),
    CNAME: CNAME?.map(({ target }) => target),
    MX,
    TXT: TXT?.map(({ parts }) => parts),
    SOA,
  }
  const instant = new Date(observed_at * 1000).toISOString()
  const { certificate } = web ?? {}
  const times = certificate && {
    not_before: new Date(certificate.not_before * 1000).toISOString(),
    not_after: new Date(certificate.not_after * 1000).toISOString(),
  }
  const shown = certificate && { certificate: { ...certificate, ...times } }
  const given = web && { ...web, redirects_to: web.redirect_host ?? web.redirects_to, ...shown }
  return JSON.stringify({ domain, observed_at: instant, dns: dns && { status: dns.status, ...records }, web: given })
}
