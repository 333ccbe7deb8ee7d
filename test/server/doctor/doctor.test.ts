/** Tests `domaindex doctor`: what it says of an installation in order, and of one with faults. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startDnsServer } from '../../../lab/dns.ts'
import { LAB_SOA } from '../../../lab/dns-reply.ts'
import type { DnsTable } from '../../../lab/dns-table.ts'
import { loadSettings } from '../../../src/config/settings.ts'
import { examineInstallation } from '../../../src/server/doctor/doctor.ts'
import type { Finding } from '../../../src/server/doctor/finding.ts'
import { examineFileLimit } from '../../../src/server/doctor/machine.ts'
import { readReports } from '../../../src/server/doctor/reports.ts'
import { ALARM_LIMITS } from '../../../src/server/metrics/alarm-limits.ts'
import { observe } from '../../api/server.ts'
import { openMailbox } from '../../app/mailbox.ts'
import { folderOf } from '../../cli/run.ts'
import { readText } from '../../deploy/deployment.ts'
import { hosted } from '../../spec/observations.ts'

const TABLE: DnsTable = {
  '.': { SOA: [LAB_SOA], NS: ['ns.test'] },
  com: { SOA: [LAB_SOA], NS: ['ns.test'] },
  'blocked.test': { A: ['192.0.2.1'] },
}
/** Free ports, the control questions of the servers of the test, and no public control question. */
const ENVIRONMENT = {
  DOMAINDEX_PORT: '0',
  DOMAINDEX_ADMIN: '127.0.0.1:0',
  DOMAINDEX_CRAWL_ADMIN: 'off',
  DOMAINDEX_CRAWL_SELF_CHECK: 'zones=com missing=com ipv4only=ipv4only.arpa unfiltered=blocked.test addresses=none',
  DOMAINDEX_MIN_DISK_FREE: 'off',
}

async function world(t: TestContext) {
  const folder = folderOf(t)
  const servers = [await startDnsServer(TABLE), await startDnsServer(TABLE)] as const
  t.after(() => Promise.all(servers.map((server) => server.close())))
  const resolvers = servers.flatMap(({ address, port }) => ['--resolver', `${address}:${port}`])
  /** The findings without those of the disks, which depend on the machine, as `state subject: message`. */
  const examine = async (env: Record<string, string> = {}, options = resolvers) => {
    const { code, stdout, stderr } = await folder.run(['doctor', '--json', ...options], {
      env: { ...ENVIRONMENT, ...env },
    })
    assert.equal(stderr, '')
    const { findings } = JSON.parse(stdout) as { findings: Finding[] }
    for (const { state, advice } of findings) assert.equal(advice !== null, state === 'fault' || state === 'warning')
    const lines = findings.map(({ subject, state, message }) => `${state} ${subject}: ${message}`)
    return { code, lines, has: (pattern: RegExp) => assert.match(lines.join('\n'), pattern) }
  }
  return { ...folder, servers, resolvers, examine }
}

test('given no store, the machine and the network are examined, and nothing is created', async (t) => {
  const { examine, path, run, resolvers } = await world(t)
  const { code, lines, has } = await examine()
  assert.equal(code, 0, lines.join('\n'))
  has(/^off store: there is none yet/m)
  has(/^ok disk of .*store\.db: .* GiB free$/m)
  has(/^(ok|warning) disk of .*: writes \d+ MiB per second, [\d.]+ ms until a write is on disk$/m)
  has(/^ok resolvers: 2 agree$/m)
  const { stdout } = await run(['doctor', ...resolvers], { env: ENVIRONMENT })
  assert.match(stdout, /^off {5}store: there is none yet/m)
  assert.match((await run(['check'], {})).stderr, /there is no store/)
  assert.ok(path('store.db'))
})

test('given a place, a file and a path that a server cannot use, the doctor says so before there is a store', async (t) => {
  const { examine, path } = await world(t)
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  closed.close()
  const { code, has } = await examine({
    DOMAINDEX_PLANS: path('absent.json'),
    DOMAINDEX_CRAWL_OPT_OUT: path('absent.txt'),
    DOMAINDEX_FILES: 's3://absent',
    DOMAINDEX_FILES_ENDPOINT: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'key',
  })
  assert.equal(code, 1)
  has(/^fault plans: .*absent\.json \(DOMAINDEX_PLANS\) cannot be read/m)
  has(/^fault opt-out list: .*absent\.txt cannot be read: the file does not exist/m)
  has(/^fault (places for files|files in s3:\/\/absent): DOMAINDEX_FILES \(s3:\/\/absent\/\): .*ECONNREFUSED/m)
})

test('given a store whose path has no dot, and one in a folder whose name has one, their disks are measured', async (t) => {
  const { examine, withStore, path } = await world(t)
  mkdirSync(path('in.folder'))
  for (const file of ['plain', 'in.folder/plain']) {
    await withStore((store) => store.probe(), `sqlite:${path(file)}`)
    const { has } = await examine({ DOMAINDEX_STORE: `sqlite:${path(file)}` })
    has(/^(ok|warning) disk of .*plain: writes \d+ MiB per second/m)
    assert.deepEqual(
      readdirSync(dirname(path(file))).filter((each) => each.startsWith('.doctor')),
      [],
    )
  }
})

test('a program that answers every path is no server of domaindex, and an address of another machine is a fault', async (t) => {
  const { examine } = await world(t)
  const other = createHttpServer((_, response) => response.writeHead(200).end('<title>other</title>'))
  other.listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { has } = await examine({ DOMAINDEX_PORT: String(port), DOMAINDEX_CRAWL_ADMIN: `127.0.0.1:${port}` })
  has(/^fault API: another program listens/m)
  has(/^fault metrics of the crawl: another program listens/m)
  const { has: hasElsewhere } = await examine({ DOMAINDEX_HOST: '192.0.2.1' })
  hasElsewhere(/^fault API: this machine has no address 192\.0\.2\.1: set another one with DOMAINDEX_HOST$/m)
})

test('given a store that does not open and a silent mail server, the doctor reports each part before it waits for the next', async (t) => {
  const { path } = folderOf(t)
  const silent = createServer().listen(0, '127.0.0.1')
  const accepted = Promise.withResolvers<Socket>()
  silent.on('connection', accepted.resolve)
  t.after(() => silent.close())
  await once(silent, 'listening')
  const smtp = `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const settings = {
    ...loadSettings(),
    ...{ store: `sqlite:${path('store.db')}`, files: path('files'), jobTimes: null, diskFree: null },
    ...{ port: 0, admin: null, crawlAdmin: null },
    ...{ smtp, mailFrom: 'domaindex@example.com', publicUrl: 'https://example.com' },
  }
  const reported: Finding[] = []
  const findings = await examineInstallation({
    settings,
    store: () => new Promise(() => {}),
    resolvers: [],
    hasNetwork: false,
    openTimeout: 1,
    onFindings(part) {
      reported.push(...part)
      if (part.some(({ subject }) => subject === 'store')) void accepted.promise.then((socket) => socket.destroy())
    },
  })
  assert.deepEqual(reported, findings)
  const store = findings.find(({ subject }) => subject === 'store')
  assert.equal(store?.state, 'fault')
  assert.match(store.message, /^no answer within /)
  const mail = findings.at(-1)
  assert.equal(mail?.state, 'fault')
  assert.doesNotMatch(mail.message, /timeout/i)
})

test('the bounds are those of the alerts', () => {
  const alerts = readText('deploy/monitoring/alerts.yml')
  for (const expression of [
    `abs(domaindex_clock_ahead_seconds) > ${ALARM_LIMITS.clockDifference}`,
    `domaindex_similar_lag_seconds > ${ALARM_LIMITS.similarLag}`,
    `max(domaindex_webhook_lag_seconds) > ${ALARM_LIMITS.webhookLag}`,
    `max by (log) (domaindex_certificate_log_lag_seconds) > ${ALARM_LIMITS.certificateLogLag} `,
    `domaindex_daily_file_age_seconds > ${ALARM_LIMITS.dailyFileAge}`,
    `{exported_job=~"inbox|daily|snapshot"}) > ${ALARM_LIMITS.jobAge}`,
  ])
    assert.ok(alerts.includes(expression), expression)
})

test('a limit of open files below the number of connections is a warning', {
  skip: process.platform !== 'linux' && 'only Linux tells the limit',
}, async () => {
  const settings = loadSettings()
  const [few] = await examineFileLimit({ ...settings, connections: 0 })
  assert.equal(few?.state, 'ok')
  const [many] = await examineFileLimit({ ...settings, connections: 1e15 })
  assert.equal(many?.state, few?.message === 'at most unlimited' ? 'ok' : 'warning')
})

test('given an installation in order, no finding is a fault, and the store keeps the report', async (t) => {
  const { examine, withStore, run, path } = await world(t)
  await withStore((store) => observe(store, hosted('example.com', ['192.0.2.1'])))
  assert.equal((await run(['index'])).code, 0)
  assert.equal((await run(['backup', path('copy')])).code, 0)
  const mail = await openMailbox()
  t.after(() => mail.close())
  const { code, lines, has } = await examine({
    DOMAINDEX_SMTP: mail.url,
    DOMAINDEX_MAIL_FROM: 'domaindex@example.com',
    DOMAINDEX_PUBLIC_URL: 'https://example.com',
  })
  assert.equal(code, 0, lines.join('\n'))
  has(/^ok mail by 127\.0\.0\.1:\d+: accepts mail$/m)
  assert.deepEqual(mail.logins, ['me:secret'])
  for (const subject of ['store', 'schema', 'secret', 'index of /similar', 'inverse index', 'backup', 'inbox', 'jobs'])
    has(new RegExp(`^ok ${subject}: `, 'm'))
  has(/^off clock: not examined: the store uses the clock of this machine$/m)
  const reports = await withStore(async ({ maintenance, now }) => readReports(maintenance, await now()))
  assert.deepEqual(
    reports.map(({ findings }) => findings.some(({ subject }) => subject === 'backup')),
    [true],
  )
  const later = await withStore(async ({ maintenance, now }) => readReports(maintenance, (await now()) + 8 * 86_400))
  assert.deepEqual(later, [])
})

test('a finding names what is wrong with the resolvers', async (t) => {
  const { examine, servers } = await world(t)
  const gone = await startDnsServer(TABLE)
  await gone.close()
  const resolversOf = (named: readonly { address: string; port: number }[]) =>
    named.flatMap(({ address, port }) => ['--resolver', `${address}:${port}`])
  servers[1].override((host) => (host === 'blocked.test' ? { A: ['0.0.0.0'] } : undefined))
  const { code, has } = await examine({}, resolversOf([gone, servers[1]]))
  assert.equal(code, 1)
  has(/^fault resolver 127\.0\.0\.1 port \d+: does not answer$/m)
  has(/^warning resolver 127\.0\.0\.1 port \d+: it denies blocked\.test, so it filters names$/m)
  has(/^warning resolvers: 1 of 2 work$/m)
  servers[0].override((host) => (host === 'com' ? { SOA: [LAB_SOA], NS: ['other.test'] } : undefined))
  ;(await examine()).has(/^warning resolvers: .* lists other name servers for com than the first one$/m)
  ;(await examine({}, resolversOf([servers[0]]))).has(/^warning resolvers: there is only one/m)
})

test('a finding names what is wrong with the machine, the inbox, the jobs, the backup and the mail server', async (t) => {
  const { examine, withStore, path } = await world(t)
  const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  mkdirSync(path('data/inbox/failed'), { recursive: true })
  writeFileSync(path('data/inbox/unknown.txt'), '')
  writeFileSync(path('data/inbox/failed/com-2026-11-01.zone'), '')
  await withStore(async (store) => {
    await observe(store, hosted('example.com', ['192.0.2.1']))
    const hold = await store.jobs.acquireLock('daily', 'test')
    const run = await store.jobs.startRun(hold!, 'daily', null)
    await store.jobs.endRun(run!, { rows: null, error: 'the names are unreadable' })
    await store.jobs.releaseLock(hold!)
  })
  const { code, has } = await examine({
    DOMAINDEX_PORT: String(port),
    DOMAINDEX_MIN_DISK_FREE: '900T',
    DOMAINDEX_SMTP: `smtp://user:wrong@127.0.0.1:${port}`,
    DOMAINDEX_MAIL_FROM: 'domaindex@example.com',
    DOMAINDEX_PUBLIC_URL: 'https://example.com',
  })
  assert.equal(code, 1)
  has(/^fault API: another program listens on 127\.0\.0\.1:\d+$/m)
  has(/^fault disk of .*: .* has less than/m)
  has(/^warning inbox: it never takes unknown\.txt$/m)
  has(/^warning inbox: com-2026-11-01\.zone could not be imported$/m)
  has(/^fault job daily: the names are unreadable$/m)
  has(/^warning backup: domaindex backup never copied this store$/m)
  has(/^warning index of \/similar: it was never complete$/m)
  has(/^fault mail by 127\.0\.0\.1:\d+: /m)
})
