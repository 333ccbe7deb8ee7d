/** Examines the store: whether it opens, its schema, secret, clock, indexes and backups, and what runs on it. */

import type { Settings } from '../../config/settings.ts'
import { readCrawlStatus } from '../../crawler/status/status.ts'
import { readBackupTime } from '../../store/backup-record.ts'
import { engineOf } from '../../store/engines.ts'
import { migrateStore } from '../../store/open.ts'
import type { Store } from '../../store/port/store.ts'
import type { StoreLocation } from '../../store/port/url.ts'
import { readLogStatus } from '../certificate-logs/status.ts'
import { ALARM_LIMITS } from '../metrics/alarm-limits.ts'
import { ClockCheck } from '../processes/clock-check.ts'
import { durationText, type Finding, fault, off, ok, warning } from './finding.ts'

const MAX_BACKUP_AGE_SECONDS = 8 * 86_400

/** Examines what every call needs. */
export async function examineStore({ store: location, secret }: Settings, store: Store): Promise<Finding[]> {
  await store.probe()
  const { name } = engineOf(location)
  const pending = await migrateStore(location, true)
  const secrets = await store.ledger.secrets(await store.now())
  return [
    ok('store', `${name}, answers`),
    pending.length === 0
      ? ok('schema', 'that of this release')
      : warning('schema', `migrations are pending: ${pending.join(', ')}`, 'run domaindex migrate'),
    ok(
      'secret',
      `${secret === null ? 'made by the store' : 'set by DOMAINDEX_SECRET'}${secrets.length > 1 ? '; a former one is still valid' : ''}`,
    ),
    await clockFinding(location, store),
  ]
}

/** Whether the store is files of this machine, and no server. */
function isOnThisMachine(location: StoreLocation): boolean {
  return engineOf(location).paths(location).length > 0
}

async function clockFinding(location: StoreLocation, { now }: Pick<Store, 'now'>): Promise<Finding> {
  if (isOnThisMachine(location)) return off('clock', 'not examined: the store uses the clock of this machine')
  const clock = new ClockCheck(() => {})
  clock.record(Math.floor(Date.now() / 1_000) - (await now()))
  const advice = 'synchronize the clocks of both machines by NTP'
  if (clock.fault !== null) return fault('clock', clock.fault, advice)
  if (Math.abs(clock.ahead) > ALARM_LIMITS.clockDifference)
    return warning('clock', `it differs from that of the store by ${Math.abs(clock.ahead)} seconds`, advice)
  return ok('clock', 'agrees with that of the store')
}

/** Examines the indexes. */
export async function examineIndexes({ index }: Settings, store: Store): Promise<Finding[]> {
  const advice = index
    ? 'check that a server runs; domaindex index brings it up to date'
    : 'run domaindex index, or set DOMAINDEX_INDEX=on'
  const [until, { share }, now] = [
    await store.similar.indexedUntil(),
    await store.inverse.progress(),
    await store.now(),
  ]
  const lag = until === null ? null : Math.max(0, now - until)
  const findings = [
    lag === null
      ? warning('index of /similar', 'it was never complete', advice)
      : lag > ALARM_LIMITS.similarLag
        ? warning('index of /similar', `it is ${durationText(lag)} behind`, advice)
        : ok('index of /similar', 'up to date'),
  ]
  const filled = `${Math.floor(share * 100)} % of the names are in it`
  findings.push(share === 1 ? ok('inverse index', 'complete') : warning('inverse index', filled, advice))
  return findings
}

/** Examines when `domaindex backup` last copied the store. */
export async function examineBackups({ store: location }: Settings, store: Store): Promise<Finding[]> {
  if (!isOnThisMachine(location))
    return [
      off('backup', 'the backups of a database server are not known here: docs/postgresql.md says how to make them'),
    ]
  const at = await readBackupTime(store.maintenance)
  const advice = 'run domaindex backup each day, for example by deploy/systemd/domaindex-backup.timer'
  if (at === null) return [warning('backup', 'domaindex backup never copied this store', advice)]
  const age = Math.max(0, (await store.now()) - at)
  const message = `the last one was ${durationText(age)} ago`
  return [age > MAX_BACKUP_AGE_SECONDS ? warning('backup', message, advice) : ok('backup', message)]
}

/** Examines the crawlers that are alive. */
export async function examineCrawl(_: Settings, store: Store): Promise<Finding[]> {
  const { crawlers, count, rate } = await readCrawlStatus(store)
  if (crawlers.length === 0) return [off('crawl', 'no crawler runs')]
  const paused = crawlers.flatMap(({ holder, report }) =>
    report?.pause ? [{ holder, why: report.pause.message }] : [],
  )
  return [
    ...paused.map(({ holder, why }) =>
      fault('crawl', `${holder} pauses: ${why}`, 'see "The crawl pauses" in docs/incidents.md'),
    ),
    ok('crawl', `${crawlers.length} run, ${rate.toFixed(1)} probes per second, ${count.overdue} names overdue`),
  ]
}

/** Examines the certificate logs that are followed. */
export async function examineCertificateLogs(_: Settings, store: Store): Promise<Finding[]> {
  const logs = await readLogStatus(store)
  if (logs.length === 0) return [off('certificate logs', 'none is followed')]
  const see = 'see "A certificate log is left out, or lags" in docs/incidents.md'
  return logs.map(({ url, problem, lag }) => {
    const subject = `certificate log ${url}`
    if (problem !== null) return fault(subject, problem, see)
    if (lag === null) return warning(subject, 'nothing was read yet', 'check that serve --ct or fetch ct runs')
    if (lag > ALARM_LIMITS.certificateLogLag) return warning(subject, `it is ${durationText(lag)} late`, see)
    return ok(subject, `at most ${durationText(lag)} late`)
  })
}

/** Examines the webhooks. */
export async function examineWebhooks({ deliveries }: Settings, { ledger, now }: Store): Promise<Finding[]> {
  const { active, failing, disabled, late } = await ledger.deliveryFigures(await now())
  if (active + failing + disabled === 0) return [off('webhooks', 'there are none')]
  const advice = deliveries ? 'check that a server runs, and its log' : 'set DOMAINDEX_DELIVERIES=on on one server'
  if (late > ALARM_LIMITS.webhookLag) return [fault('webhooks', `events wait for ${durationText(late)}`, advice)]
  const message = `${active} active, ${failing} failing, ${disabled} disabled`
  return [
    failing > 0
      ? warning('webhooks', message, 'the accounts can see the errors of their receivers')
      : ok('webhooks', message),
  ]
}
