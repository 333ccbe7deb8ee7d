/** Examines the places for files, the jobs that build files, the inbox, and the mail server. */

import { randomUUID } from 'node:crypto'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Mailer } from '../../api/context/mailer.ts'
import type { Settings } from '../../config/settings.ts'
import { mailSettings } from '../../config/web.ts'
import { nullIfMissing } from '../../jobs/file-store/durable.ts'
import { fileFolders } from '../../jobs/file-store/location.ts'
import { openFileStore } from '../../jobs/file-store/open.ts'
import { MARK_NAME } from '../../jobs/file-store/place-mark.ts'
import { errorText } from '../../jobs/job-lock.ts'
import { STOPPED_MESSAGE } from '../../jobs/job-plan.ts'
import { labelOfFile, unlabelledFiles } from '../../registrations/inbox.ts'
import { RUN_RETENTION_SECONDS } from '../../store/port/jobs.ts'
import type { Store } from '../../store/port/store.ts'
import { ALARM_LIMITS } from '../metrics/alarm-limits.ts'
import { readJobMetrics } from '../metrics/job-metrics.ts'
import { wrongPlaces } from '../places/check.ts'
import { filePlace, type Place, placesOf } from '../places/place.ts'
import { durationText, type Finding, fault, off, ok, warning } from './finding.ts'

/** Seconds after which a file that is still in the inbox needs an operator. */
const MAX_INBOX_AGE_SECONDS = 86_400
/** The jobs that run every day, as in deploy/monitoring/alerts.yml. */
const DAILY_JOBS = ['inbox', 'daily', 'snapshot']
const MAX_NAMED_FILES = 5

/** Examines whether finished files can be in S3, before there is a store that knows the place. */
export async function examineFilesOfNoStore(settings: Settings): Promise<Finding[]> {
  if (fileFolders(settings).length > 0) return []
  const place = await filePlace(settings)
  return [await examineWriting(`${place.name} in ${place.location}`, place)]
}

/** Examines whether each place is that of the installation, and can be written. */
export async function examinePlaces(settings: Settings, store: Store): Promise<Finding[]> {
  const places = await placesOf(settings)
  return (await Promise.all(places.map((place) => examinePlace(place, store)))).flat()
}

async function examinePlace(place: Place, store: Store): Promise<Finding[]> {
  const subject = `${place.name} in ${place.location}`
  const wrong = await wrongPlaces([place], store, 'command')
  if (wrong.length > 0) return wrong.map((each) => fault(subject, each, 'the server is not ready until then'))
  return [await examineWriting(subject, place)]
}

async function examineWriting(subject: string, place: Place): Promise<Finding> {
  const note = `${MARK_NAME}.doctor-${randomUUID()}`
  try {
    await place.notes.write(note, note)
    const isKept = (await place.notes.read(note)) === note
    await place.notes.remove(note)
    return isKept
      ? ok(subject, 'can be written and read')
      : fault(subject, 'it loses what is written', 'check the storage')
  } catch (error) {
    return fault(subject, errorText(error), 'check its settings and permissions')
  }
}

/** Examines the jobs of `serve`, and the files that they build. */
export async function examineJobs(settings: Settings, store: Store): Promise<Finding[]> {
  const { successes, held, ended, now } = await readJobMetrics(store, await openFileStore(settings))
  const findings =
    settings.jobTimes === null
      ? [off('jobs', 'DOMAINDEX_JOB_TIMES is off on this machine')]
      : await failedJobs(store, now)
  for (const job of DAILY_JOBS) {
    const age = now - (successes[job] ?? now)
    if (age > ALARM_LIMITS.jobAge)
      findings.push(
        warning(`job ${job}`, `it last succeeded ${durationText(age)} ago`, 'check that a server runs: domaindex jobs'),
      )
  }
  if (held > 0)
    findings.push(warning('daily files', `${held} are held`, 'see "A daily file is held" in docs/incidents.md'))
  if (ended !== null && now - ended > ALARM_LIMITS.dailyFileAge)
    findings.push(
      warning('daily files', `the newest is ${durationText(now - ended)} old`, 'check the sources of zones and lists'),
    )
  if (findings.length > 0) return findings
  const last = Math.max(...Object.values(successes), Number.NEGATIVE_INFINITY)
  return [
    ok(
      'jobs',
      Number.isFinite(last)
        ? `the last one succeeded ${durationText(Math.max(0, now - last))} ago`
        : 'none has run yet',
    ),
  ]
}

/** The jobs whose last run failed. */
async function failedJobs({ jobs }: Pick<Store, 'jobs'>, now: number): Promise<Finding[]> {
  const last = new Map((await jobs.runs(now - RUN_RETENTION_SECONDS)).map((run) => [run.job, run]))
  return [...last.values()].flatMap(({ job, date, error }) => {
    if (error === null || error === STOPPED_MESSAGE) return []
    return fault(
      `job ${job}${date === null ? '' : ` of ${date}`}`,
      error,
      'see "A daily file is missing" in docs/incidents.md',
    )
  })
}

/** Examines the inbox: files that it never takes, that wait for long, and that have failed. */
export async function examineInbox({ inbox, jobTimes }: Settings, { now }: Store): Promise<Finding[]> {
  if (jobTimes === null) return [off('inbox', 'DOMAINDEX_JOB_TIMES is off on this machine')]
  const findings: Finding[] = []
  const unlabelled = await unlabelledFiles(inbox)
  if (unlabelled.length > 0)
    findings.push(
      warning('inbox', `it never takes ${listText(unlabelled)}`, 'rename these files as docs/files.md says'),
    )
  const entries = (await readdir(inbox).catch(nullIfMissing)) ?? []
  const waiting = entries.filter((entry) => labelOfFile(entry) !== null)
  const at = await now()
  const times = await Promise.all(
    waiting.map(async (entry) => (await lstat(join(inbox, entry)).catch(nullIfMissing))?.mtimeMs ?? null),
  )
  const late = waiting.filter((_, index) => times[index] !== null && at - times[index]! / 1_000 > MAX_INBOX_AGE_SECONDS)
  if (late.length > 0)
    findings.push(warning('inbox', `${listText(late)} wait for more than a day`, 'check that a server runs jobs'))
  const failed = ((await readdir(join(inbox, 'failed')).catch(nullIfMissing)) ?? []).filter(
    (each) => labelOfFile(each) !== null,
  )
  if (failed.length > 0)
    findings.push(
      warning(
        'inbox',
        `${listText(failed)} could not be imported`,
        `read the reports in ${join(inbox, 'failed')}, then remove them`,
      ),
    )
  return findings.length > 0
    ? findings
    : [ok('inbox', waiting.length === 0 ? 'empty' : `${waiting.length} files wait for the next job`)]
}

function listText(files: readonly string[]): string {
  const named = files.slice(0, MAX_NAMED_FILES).join(', ')
  return files.length > MAX_NAMED_FILES ? `${named} and ${files.length - MAX_NAMED_FILES} more` : named
}

/** Examines whether the mail server accepts a connection and the password. */
export async function examineMail(settings: Settings): Promise<Finding[]> {
  const mail = mailSettings(settings)
  if (mail === null) return [off('mail', 'DOMAINDEX_SMTP is not set, so accounts sign in without mail')]
  const subject = `mail by ${new URL(mail.smtp).host}`
  const mailer = new Mailer(mail, { error() {} })
  try {
    const reason = await mailer.verify()
    return [
      reason === null
        ? ok(subject, 'accepts mail')
        : fault(subject, reason, 'check DOMAINDEX_SMTP and the mail server'),
    ]
  } finally {
    mailer.close()
  }
}
