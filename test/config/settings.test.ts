/**
 * Tests settings: read from the environment, printed by `domaindex config`, rejected if they are wrong, and documented.
 */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { readSettings, SETTINGS, unknownSettings } from '../../src/config/settings.ts'
import { DEFAULT_SELF_CHECK_PLAN } from '../../src/probe/self-check/plan.ts'
import { redactedStoreUrl } from '../../src/store/engines.ts'
import { folderOf } from '../cli/run.ts'

const DEFAULTS = readSettings({})

test('without an environment every setting has its default', () => {
  const { workers, ...rest } = DEFAULTS
  assert.ok(workers >= 1)
  assert.deepEqual(rest, {
    store: 'sqlite:data/domaindex.db',
    storeTo: null,
    ledger: null,
    ledgerTo: null,
    diskFree: { share: 0.05, bytes: 2 ** 30 },
    pool: 8,
    files: 'data/files',
    filesEndpoint: null,
    filesRegion: 'us-east-1',
    plans: null,
    snapshotsKept: 7,
    snapshotParquet: false,
    forgottenFiles: 'rebuild',
    host: '127.0.0.1',
    port: 8080,
    admin: { host: '127.0.0.1', port: 9090 },
    secret: null,
    trustedProxies: [],
    cors: '*',
    publicUrl: null,
    smtp: null,
    mailFrom: null,
    logLevel: 'info',
    index: true,
    directPath: true,
    web: true,
    deliveries: true,
    webhookPrivate: false,
    connections: 10_000,
    clientConnections: 1_000,
    clientRequests: 2_000,
    clientFailures: 100,
    clientExempt: ['127.0.0.0/8', '::1'],
    zones: 'data/zones',
    inbox: 'data/inbox',
    czdsUser: null,
    czdsPassword: null,
    czdsAccounts: 'https://account-api.icann.org',
    czdsZones: 'https://czds-api.icann.org',
    ctList: 'https://www.gstatic.com/ct/log_list/v3/log_list.json',
    ctListKey: null,
    ctCertificates: false,
    ctStartBack: 10_000,
    radarToken: null,
    jobTimes: [3600],
    dailyBounds: { min: 0.2, max: 5 },
    dailyMinDifference: 500,
    followupWait: 12 * 3600,
    keepHistory: {},
    keepFiles: null,
    keepInbox: 30 * 86_400,
    keepUsage: 730 * 86_400,
    keepAudit: 730 * 86_400,
    crawlContact: null,
    crawlOptOut: null,
    crawlSelfCheck: DEFAULT_SELF_CHECK_PLAN,
    crawlRate: 20,
    crawlShares: { lookup: 10, new: 30, followup: 20, due: 40 },
    crawlDiscover: [],
    crawlMinInterval: 86_400,
    crawlMaxInterval: 30 * 86_400,
    crawlLookupRequests: 0,
    crawlAdmin: { host: '127.0.0.1', port: 9091 },
    clientServer: null,
    clientToken: null,
  })
  assert.deepEqual(readSettings(Object.fromEntries(Object.values(SETTINGS).map(({ name }) => [name, '']))), DEFAULTS)
})

for (const [name, text, key, value] of [
  ['DOMAINDEX_STORE', 'sqlite:/srv/my data.db', 'store', 'sqlite:/srv/my data.db'],
  ['DOMAINDEX_STORE', 'postgres://me:pa%40ss@[::1]:5433/db', 'store', 'postgres://me:pa%40ss@[::1]:5433/db'],
  ['DOMAINDEX_STORE', 'postgresql:///db?host=/run', 'store', 'postgresql:///db?host=/run'],
  ['DOMAINDEX_STORE_TO', 'postgres://me@there/db', 'storeTo', 'postgres://me@there/db'],
  ['DOMAINDEX_MIN_DISK_FREE', '2.5%', 'diskFree', { share: 0.025, bytes: Number.POSITIVE_INFINITY }],
  ['DOMAINDEX_MIN_DISK_FREE', '500M', 'diskFree', { share: Number.POSITIVE_INFINITY, bytes: 500 * 2 ** 20 }],
  ['DOMAINDEX_MIN_DISK_FREE', '10%,1T', 'diskFree', { share: 0.1, bytes: 2 ** 40 }],
  ['DOMAINDEX_MIN_DISK_FREE', 'off', 'diskFree', null],
  ['DOMAINDEX_POOL', '2', 'pool', 2],
  ['DOMAINDEX_FILES', 's3://bucket-1/some/prefix', 'files', 's3://bucket-1/some/prefix'],
  ['DOMAINDEX_FILES', 's3://bucket-1/env=prod', 'files', 's3://bucket-1/env=prod'],
  ['DOMAINDEX_FILES_ENDPOINT', 'http://minio:9000', 'filesEndpoint', 'http://minio:9000'],
  ['DOMAINDEX_FILES_REGION', 'eu-central-1', 'filesRegion', 'eu-central-1'],
  ['DOMAINDEX_HOST', '::', 'host', '::'],
  ['DOMAINDEX_HOST', 'my-host.example', 'host', 'my-host.example'],
  ['DOMAINDEX_PORT', '0', 'port', 0],
  ['DOMAINDEX_ADMIN', 'off', 'admin', null],
  ['DOMAINDEX_JOB_TIMES', 'off', 'jobTimes', null],
  ['DOMAINDEX_JOB_TIMES', '13:00, 00:30,13:00', 'jobTimes', [1800, 46_800]],
  ['DOMAINDEX_DAILY_BOUNDS', 'off', 'dailyBounds', null],
  ['DOMAINDEX_DAILY_BOUNDS', '0-1.5', 'dailyBounds', { min: 0, max: 1.5 }],
  ['DOMAINDEX_DAILY_MIN_DIFFERENCE', '0', 'dailyMinDifference', 0],
  ['DOMAINDEX_FOLLOWUP_WAIT', '90m', 'followupWait', 5400],
  ['DOMAINDEX_KEEP_HISTORY', 'SOA:90d, WEB:2y', 'keepHistory', { SOA: 90 * 86_400, web: 730 * 86_400 }],
  [
    'DOMAINDEX_KEEP_HISTORY',
    '1y,TXT:forever,A:2d,AAAA:2d,MX:2d,NS:2d,WEB:forever',
    'keepHistory',
    {
      ...Object.fromEntries(['A', 'AAAA', 'MX', 'NS'].map((type) => [type, 2 * 86_400])),
      ...{ SOA: 365 * 86_400, CNAME: 365 * 86_400, certificate: 365 * 86_400 },
    },
  ],
  ['DOMAINDEX_KEEP_FILES', '90d', 'keepFiles', 90 * 86_400],
  ['DOMAINDEX_KEEP_AUDIT', 'forever', 'keepAudit', null],
  ['DOMAINDEX_ADMIN', '[::1]:9999', 'admin', { host: '::1', port: 9999 }],
  ['DOMAINDEX_WORKERS', '12', 'workers', 12],
  ['DOMAINDEX_SECRET', 's'.repeat(32), 'secret', 's'.repeat(32)],
  [
    'DOMAINDEX_TRUSTED_PROXIES',
    '10.0.0.0/8, ::1,2001:db8::/32',
    'trustedProxies',
    ['10.0.0.0/8', '::1', '2001:db8::/32'],
  ],
  ['DOMAINDEX_PUBLIC_URL', 'https://domains.example.com', 'publicUrl', 'https://domains.example.com'],
  ['DOMAINDEX_PUBLIC_URL', 'HTTP://localhost:8080/', 'publicUrl', 'http://localhost:8080'],
  ['DOMAINDEX_SMTP', 'smtps://me:secret@mail.example.com', 'smtp', 'smtps://me:secret@mail.example.com'],
  ['DOMAINDEX_MAIL_FROM', 'Domaindex@Example.com', 'mailFrom', 'domaindex@example.com'],
  ['DOMAINDEX_CORS', 'off', 'cors', []],
  ['DOMAINDEX_CORS', 'https://a.example,http://localhost:3000', 'cors', ['https://a.example', 'http://localhost:3000']],
  ['DOMAINDEX_LOG_LEVEL', 'silent', 'logLevel', 'silent'],
  ['DOMAINDEX_INDEX', 'off', 'index', false],
  ['DOMAINDEX_INDEX', 'on', 'index', true],
  ['DOMAINDEX_CRAWL_CONTACT', 'https://example.com/crawler', 'crawlContact', 'https://example.com/crawler'],
  ['DOMAINDEX_CRAWL_CONTACT', 'crawler@example.com', 'crawlContact', 'crawler@example.com'],
  ['DOMAINDEX_CRAWL_OPT_OUT', '/srv/opt-out', 'crawlOptOut', '/srv/opt-out'],
  [
    'DOMAINDEX_CRAWL_SELF_CHECK',
    'zones=.,org addresses=none',
    'crawlSelfCheck',
    { ...DEFAULT_SELF_CHECK_PLAN, zones: ['.', 'org'], addresses: [] },
  ],
  ['DOMAINDEX_CRAWL_RATE', '0.5', 'crawlRate', 0.5],
  ['DOMAINDEX_CRAWL_RATE', '0.001', 'crawlRate', 0.001],
  ['DOMAINDEX_CRAWL_RATE', 'off', 'crawlRate', null],
  [
    'DOMAINDEX_CRAWL_SHARES',
    'due=1, lookup=0,followup=0,new=3',
    'crawlShares',
    { due: 1, lookup: 0, followup: 0, new: 3 },
  ],
  ['DOMAINDEX_CRAWL_MIN_INTERVAL', '90m', 'crawlMinInterval', 5_400],
  ['DOMAINDEX_CRAWL_MAX_INTERVAL', '12h', 'crawlMaxInterval', 43_200],
  ['DOMAINDEX_CRAWL_MAX_INTERVAL', '3650d', 'crawlMaxInterval', 3_650 * 86_400],
  ['DOMAINDEX_CRAWL_MAX_INTERVAL', '5256000m', 'crawlMaxInterval', 3_650 * 86_400],
  ['DOMAINDEX_CRAWL_LOOKUP_REQUESTS', '100', 'crawlLookupRequests', 100],
  ['DOMAINDEX_CRAWL_ADMIN', 'off', 'crawlAdmin', null],
  ['DOMAINDEX_CRAWL_ADMIN', '[::1]:9191', 'crawlAdmin', { host: '::1', port: 9191 }],
  ['DOMAINDEX_SERVER', 'http://[::1]:8080/api/', 'clientServer', 'http://[::1]:8080/api/'],
  ['DOMAINDEX_TOKEN', 'dx_token', 'clientToken', 'dx_token'],
] as const) {
  test(`${name}=${text} is accepted`, () => {
    assert.deepEqual(readSettings({ [name]: text }), { ...DEFAULTS, [key]: value })
  })
}

for (const [name, text] of [
  ['DOMAINDEX_STORE', 'data.db'],
  ['DOMAINDEX_STORE', '/tmp/x.db'],
  ['DOMAINDEX_STORE', 'sqlite:'],
  ['DOMAINDEX_STORE', 'sqlite::memory:'],
  ['DOMAINDEX_STORE', 'mysql://db'],
  ['DOMAINDEX_STORE', 'postgres://[me/db'],
  ['DOMAINDEX_STORE_TO', 'postgres:db'],
  ['DOMAINDEX_MIN_DISK_FREE', '5'],
  ['DOMAINDEX_MIN_DISK_FREE', '1G,5%'],
  ['DOMAINDEX_MIN_DISK_FREE', ','],
  ['DOMAINDEX_MIN_DISK_FREE', '5%1G'],
  ['DOMAINDEX_POOL', '1'],
  ['DOMAINDEX_FILES', 's3://UPPER/prefix'],
  ['DOMAINDEX_LEDGER', 'sqlite:/disk/ledger.db'],
  ['DOMAINDEX_LEDGER_TO', 'file:///disk/ledger.db'],
  ['DOMAINDEX_FILES', 's3://bucket/a/../b'],
  ['DOMAINDEX_FILES', 's3://bucket/a b'],
  ['DOMAINDEX_FILES', 'https://bucket.s3.amazonaws.com/prefix'],
  ['DOMAINDEX_FILES', 's3:/bucket/prefix'],
  ['DOMAINDEX_FILES', 's3:bucket/prefix'],
  ['DOMAINDEX_ZONES', 's3://bucket/zones'],
  ['DOMAINDEX_INBOX', 'file:///disk/inbox'],
  ['DOMAINDEX_FILES_ENDPOINT', 'minio:9000'],
  ['DOMAINDEX_FILES_ENDPOINT', 'https://s3.example/path'],
  ['DOMAINDEX_FILES_REGION', 'eu central'],
  ['DOMAINDEX_HOST', 'http://localhost'],
  ['DOMAINDEX_HOST', 'localhost:80'],
  ['DOMAINDEX_PORT', '65536'],
  ['DOMAINDEX_PORT', '80a'],
  ['DOMAINDEX_ADMIN', '9090'],
  ['DOMAINDEX_ADMIN', '::1:9090'],
  ['DOMAINDEX_WORKERS', '0'],
  ['DOMAINDEX_WORKERS', '2.5'],
  ['DOMAINDEX_JOB_TIMES', '24:00'],
  ['DOMAINDEX_JOB_TIMES', '1:00'],
  ['DOMAINDEX_DAILY_BOUNDS', '5'],
  ['DOMAINDEX_DAILY_BOUNDS', '5-0.2'],
  ['DOMAINDEX_FOLLOWUP_WAIT', '12'],
  ['DOMAINDEX_KEEP_HISTORY', 'SOA:90d,SOA:2y'],
  ['DOMAINDEX_KEEP_HISTORY', 'PTR:90d'],
  ['DOMAINDEX_KEEP_HISTORY', '0d'],
  ['DOMAINDEX_KEEP_HISTORY', '12h'],
  ['DOMAINDEX_KEEP_FILES', '89d'],
  ['DOMAINDEX_KEEP_USAGE', '30d'],
  ['DOMAINDEX_SECRET', 'short'],
  ['DOMAINDEX_TRUSTED_PROXIES', '10.0.0.0/33'],
  ['DOMAINDEX_TRUSTED_PROXIES', 'loopback'],
  ['DOMAINDEX_PUBLIC_URL', 'domains.example.com'],
  ['DOMAINDEX_SMTP', 'mail.example.com'],
  ['DOMAINDEX_MAIL_FROM', 'domaindex'],
  ['DOMAINDEX_PUBLIC_URL', 'https://domains.example.com/path'],
  ['DOMAINDEX_PUBLIC_URL', 'ftp://domains.example.com'],
  ['DOMAINDEX_CORS', 'https://a.example/'],
  ['DOMAINDEX_LOG_LEVEL', 'loud'],
  ['DOMAINDEX_INDEX', 'yes'],
  ['DOMAINDEX_CRAWL_CONTACT', 'me'],
  ['DOMAINDEX_CRAWL_CONTACT', 'https://'],
  ['DOMAINDEX_CRAWL_SELF_CHECK', 'zones=a..b'],
  ['DOMAINDEX_CRAWL_RATE', '0'],
  ['DOMAINDEX_CRAWL_RATE', '0.0001'],
  ['DOMAINDEX_CRAWL_RATE', '100001'],
  ['DOMAINDEX_CRAWL_RATE', 'fast'],
  ['DOMAINDEX_CRAWL_SHARES', 'due=1'],
  ['DOMAINDEX_CRAWL_DISCOVER', 'links,pages'],
  ['DOMAINDEX_CT_START_BACK', '0'],
  ['DOMAINDEX_CRAWL_SHARES', 'lookup=0,new=0,followup=0,due=0'],
  ['DOMAINDEX_CRAWL_SHARES', 'lookup=1,new=1,followup=1,late=1'],
  ['DOMAINDEX_CRAWL_MIN_INTERVAL', '30s'],
  ['DOMAINDEX_CRAWL_MAX_INTERVAL', '30'],
  ['DOMAINDEX_CRAWL_MAX_INTERVAL', '3651d'],
  ['DOMAINDEX_CRAWL_LOOKUP_REQUESTS', '-1'],
  ['DOMAINDEX_CRAWL_ADMIN', '9091'],
  ['DOMAINDEX_SERVER', 'domains.example.com'],
  ['DOMAINDEX_SERVER', 'ftp://domains.example.com'],
  ['DOMAINDEX_SERVER', 'https://domains.example.com/?x=1'],
  ['DOMAINDEX_TOKEN', 'two words'],
] as const) {
  test(`${name}=${text} is rejected with the name and the accepted values`, () => {
    const { allowed: may } = Object.values(SETTINGS).find((setting) => setting.name === name)!
    const reported = text.replace(/(?<=^postgres:|:\/\/)(\[me\/)?db$/, name.startsWith('DOMAINDEX_STORE') ? '…' : '$&')
    const isSecret = ['DOMAINDEX_SECRET', 'DOMAINDEX_SMTP', 'DOMAINDEX_TOKEN'].includes(name)
    const words = isSecret ? 'its current value is not' : `it is "${reported}"`
    assert.throws(() => readSettings({ [name]: text }), { message: `${name} must be ${may}; ${words}` })
  })
}

test('a contact, which every site can read, must not contain a user or password, and the message does not print it', () => {
  for (const [text, reported] of [
    ['https://me:hush@example.com/crawler', 'https://…@example.com/crawler'],
    ['https://hush@example.com', 'https://…@example.com'],
    ['crawler@example.com) evil', 'crawler@example.com) evil'],
  ]) {
    const { name, allowed: may } = SETTINGS.crawlContact
    assert.throws(() => readSettings({ [name]: text }), { message: `${name} must be ${may}; it is "${reported}"` })
  }
  const mastodon = 'https://social.example/@crawler'
  assert.equal(readSettings({ DOMAINDEX_CRAWL_CONTACT: mastodon }).crawlContact, mastodon)
})

test('if a setting of a crawl is too large, the message contains the maximum', () => {
  for (const [name, text, bound] of [
    ['DOMAINDEX_CRAWL_MAX_INTERVAL', '5000d', '3650d at most'],
    ['DOMAINDEX_CRAWL_MIN_INTERVAL', '5000d', '3650d at most'],
    ['DOMAINDEX_CRAWL_RATE', '0.0001', 'from 0.001 to 100000'],
    ['DOMAINDEX_CRAWL_SHARES', 'due=1', 'lookup, new, followup and due'],
    ['DOMAINDEX_CRAWL_SELF_CHECK', `zones=${Array(33).fill('com')}`, '32 at most'],
    ['DOMAINDEX_CRAWL_CONTACT', `https://example.com/${'a'.repeat(200)}`, '3 to 200'],
  ] as const) {
    assert.throws(
      () => readSettings({ [name]: text }),
      ({ message }: Error) => message.includes(bound),
      text,
    )
  }
})

test('the message about a wrong value does not print the password in it', () => {
  for (const text of [
    'postgres:/me:hush@db',
    'postgres://me:hu@sh@[db',
    'postgres:db?password=hush',
    'me:hush@db',
    'postgres:me:hush',
    'postgresql:me:hush@db/data',
    'postgres://me:hush',
    'postgres://me:hush@',
    'postgres:///me:hush@db/data',
    'postgres://db/me:hush',
    'postgres://me%3Ahush@db/data',
    'postgres://me%3ahush@db/data',
    'postgres;//me:hush@db/data',
    'Postgres://me:hush@db/data',
    ' postgres://me:hush@db/data',
    '"postgres://me:hush@db/data"',
    'pg://me:hush@db/data',
    'host=db user=me password=hush',
    'db:5432:data:me:hush',
    'hush',
    'sqlite:postgres://me:hush@db/data',
    'sqlite::memory:hush',
  ]) {
    for (const name of ['DOMAINDEX_STORE', 'DOMAINDEX_STORE_TO'])
      assert.throws(
        () => readSettings({ [name]: text }),
        ({ message }: Error) => message.startsWith(name) && !/hu@?sh/.test(message),
        text,
      )
    assert.doesNotMatch(redactedStoreUrl(text.replace('sqlite:', '')), /hu@?sh/, text)
  }
  assert.throws(() => readSettings({ DOMAINDEX_STORE: 'postgres:me:hush' }), /it is "postgres:…"$/)
  for (const name of ['DOMAINDEX_CZDS_ZONES', 'DOMAINDEX_CRAWL_CONTACT', 'DOMAINDEX_CORS'])
    assert.throws(
      () => readSettings({ [name]: 'https://me:hush@czds.example/' }),
      ({ message }: Error) => message.startsWith(name) && !/hush/.test(message),
    )
  assert.equal(
    redactedStoreUrl('postgres://me:hush@db/data?host=me:hush@db&port=5433&password=hush'),
    'postgres://me@db/data?port=5433',
  )
})

test('a password with unencoded characters is rejected, and no part of it is printed', () => {
  for (const sign of ['/', '?', '#', '%', '/@', '@/', '#@', '@?', '%@']) {
    for (const secret of [`hush${sign}hash`, `12${sign}hash`]) {
      assert.throws(
        () => readSettings({ DOMAINDEX_STORE: `postgres://me:${secret}@db/data` }),
        ({ message }: Error) => /%2F/.test(message) && !/hush|hash|12/.test(message),
      )
    }
    const store = `postgres://me:${encodeURIComponent(`12${sign}hash`)}@db/data`
    assert.equal(readSettings({ DOMAINDEX_STORE: store }).store, store)
  }
})

test('an unknown variable that looks like a setting is reported with the most similar setting', () => {
  assert.deepEqual(unknownSettings({ DOMAINDEX_PROT: '1', DOMAINDEX_PORT: '1', DOMAINDEX: '', PATH: '' }), [
    'DOMAINDEX_PROT is not a setting and is ignored; did you mean DOMAINDEX_PORT?',
  ])
})

suite('domaindex config', { concurrency: 2 }, () => {
  test('config prints every setting, and the secret only as set or unset', async (t) => {
    const { run, url } = folderOf(t)
    const env = { DOMAINDEX_SECRET: 'not to be seen '.repeat(3), DOMAINDEX_PORTS: '1' }
    const { stdout, stderr } = await run(['config', '--json'], { env })
    const shown = JSON.parse(stdout)
    assert.deepEqual(
      Object.keys(shown),
      Object.values(SETTINGS).map(({ name }) => name),
    )
    assert.deepEqual([shown.DOMAINDEX_SECRET, shown.DOMAINDEX_STORE, shown.DOMAINDEX_PORT], ['set', url, '8080'])
    assert.match(stderr, /^domaindex: DOMAINDEX_PORTS is not a setting .* DOMAINDEX_PORT\?\n$/)
    const plain = await run(['config'], { env })
    assert.match(plain.stdout, /^DOMAINDEX_SECRET +set$/m)
    assert.doesNotMatch(stdout + plain.stdout, /not to be seen/)
  })

  test('config prints the URL of a store without its password', async (t) => {
    const { run } = folderOf(t)
    const store = 'postgres://me:hush@db.example:5433/domains?password=hush&sslmode=verify-full'
    const { stdout } = await run(['config', '--json'], { env: { DOMAINDEX_STORE: store, DOMAINDEX_STORE_TO: store } })
    const shown = JSON.parse(stdout)
    assert.equal(shown.DOMAINDEX_STORE, 'postgres://me@db.example:5433/domains')
    assert.equal(shown.DOMAINDEX_STORE_TO, shown.DOMAINDEX_STORE)
  })

  test('.env of the working directory is read, and variables that are already set win', async (t) => {
    const { run, path } = folderOf(t)
    writeFileSync(path('.env'), 'DOMAINDEX_PORT=9000\nDOMAINDEX_WORKERS=3\n')
    const { stdout } = await run(['config', '--json'], { env: { DOMAINDEX_PORT: '9001' } })
    const { DOMAINDEX_PORT, DOMAINDEX_WORKERS } = JSON.parse(stdout)
    assert.deepEqual([DOMAINDEX_PORT, DOMAINDEX_WORKERS], ['9001', '3'])
  })

  test('wrong values are rejected at start, with one line each and no stack', async (t) => {
    const { run } = folderOf(t)
    const { code, stdout, stderr } = await run(['import', '-'], {
      env: { DOMAINDEX_PORT: 'x', DOMAINDEX_WORKERS: '0' },
    })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^domaindex: DOMAINDEX_PORT must be .*\ndomaindex: DOMAINDEX_WORKERS must be .*\n$/)
  })
})

test('docs/settings.md and the table of settings have the same content', () => {
  const text = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| `(DOMAINDEX_\w+)` \| (.*) \| (.*) \| (.*) \|$/gm)].map((row) => row.slice(1))
  const expected = Object.values(SETTINGS).map(({ name, defaultText: fallback, meaning, allowed: may }) => [
    name,
    name === SETTINGS.workers.name ? 'number of cores' : fallback === '' ? 'unset' : `\`${fallback}\``,
    meaning,
    may,
  ])
  assert.deepEqual(rows, expected)
  const named = new Set(text.match(/DOMAINDEX_[A-Z_]+/g))
  assert.deepEqual([...named].sort(), expected.map(([name]) => name!).sort())
})
