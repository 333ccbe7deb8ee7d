/** Arbitrary lines of observation files: valid, in spellings that are not canonical. */

import fc from 'fast-check'

const label = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9-]{0,8}[A-Za-z0-9])?$/)
const name = fc
  .tuple(fc.array(label, { minLength: 1, maxLength: 3 }), fc.constantFrom('com', 'CO.UK', 'github.io', 'xn--p1ai.'))
  .map(([labels, suffix]) => `${labels.join('.')}.${suffix}`)
const host = fc.oneof(name, fc.constantFrom('.', 'a\\.b.example', 'späße.example', '_dmarc.example.'))
const time = fc
  .tuple(
    fc.date({ min: new Date(86_400_000), max: new Date('2030-01-01'), noInvalidDate: true }),
    fc.constantFrom('Z', '+01:00', '-09:30'),
  )
  .map(([date, zone]) => date.toISOString().replace('Z', zone))
const seconds = fc.nat({ max: 4_294_967_295 })

const soa = fc.record(
  {
    primary_nameserver: host,
    admin_email: fc.constantFrom('Noc@Example.com', 'root', 'a.b@example'),
    serial: seconds,
    refresh_seconds: seconds,
    retry_seconds: seconds,
    expire_seconds: seconds,
    minimum_ttl_seconds: fc.option(seconds),
  },
  {
    requiredKeys: ['primary_nameserver', 'admin_email', 'serial', 'refresh_seconds', 'retry_seconds', 'expire_seconds'],
  },
)
const part = fc.string({ unit: 'binary', maxLength: 60 })
const some = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { maxLength: 4 })
const dns = fc.record(
  {
    status: fc.constantFrom('ok', 'ok', 'ok', 'nxdomain', 'servfail'),
    A: some(fc.ipV4()),
    AAAA: some(fc.ipV6()),
    NS: some(host),
    CNAME: some(host),
    MX: some(fc.record({ priority: fc.nat({ max: 65_535 }), mail_server: host })),
    TXT: some(fc.array(part, { minLength: 1, maxLength: 3 })),
    SOA: some(soa),
  },
  { requiredKeys: ['status'] },
)

const account = fc.record({
  network: part,
  type: part,
  username: part,
  url: fc.constantFrom('https://x.com/a', 'b', ''),
})
const hex = '0123456789abcdefABCDEF'
const certificate = fc.record({
  sha256: fc.string({ unit: fc.constantFrom(...hex), minLength: 64, maxLength: 64 }),
  issuer: fc.constantFrom('', "CN=R11,O=Let's Encrypt,C=US", 'O=späße\\, 1'),
  not_before: time,
  not_after: time,
  names: some(
    fc.oneof(
      name,
      name.map((each) => `*.${each}`),
    ),
  ),
  key: fc.constantFrom('rsa-2048', 'ec-p256', 'ed25519', '1.2.3.4'),
})
const web = fc.record(
  {
    has_website: fc.boolean(),
    redirect_to_https: fc.boolean(),
    redirect_to_www: fc.boolean(),
    only_with_www: fc.boolean(),
    redirects_to: fc.option(name),
    ssl: fc.constantFrom('valid', 'nocert', 'invalid'),
    social_accounts: some(account),
    text: fc.option(fc.string({ unit: 'binary' })),
    certificate: fc.option(certificate),
  },
  {
    requiredKeys: [
      'has_website',
      'redirect_to_https',
      'redirect_to_www',
      'only_with_www',
      'redirects_to',
      'ssl',
      'social_accounts',
    ],
  },
)

/** A valid line. */
export const lines = fc
  .record({ domain: name, observed_at: time, dns: fc.option(dns), web: fc.option(web) })
  .map((given) => JSON.stringify(given))
