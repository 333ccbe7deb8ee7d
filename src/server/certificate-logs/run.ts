/** Follows the certificate logs of the settings: opens the list, the opt-out list and the client, and closes them. */

import { setTimeout as sleep } from 'node:timers/promises'
import { CommandFault } from '../../config/command-fault.ts'
import type { Settings } from '../../config/settings.ts'
import type { LogFollowing } from '../../fetch/ct/follow-logs.ts'
import { followListedLogs } from '../../fetch/ct/follow-logs.ts'
import { type LogGet, openLogClient } from '../../fetch/ct/log/log-client.ts'
import type { CertificateLog } from '../../fetch/ct/log.ts'
import { isDownloaded, logAtUrl, readLogList } from '../../fetch/ct/log-list.ts'
import { publicOnly } from '../../fetch/vetted-target.ts'
import { InputError } from '../../import/stream/input-error.ts'
import { processHolderName } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import { openConfiguredOptOut, userAgentOf } from '../crawl/crawl-access.ts'
import { youngGenerationBound } from './young-generation.ts'

/** With more, an entry takes no less processor time; with half of it, more. */
const YOUNG_GENERATION_BYTES = 2 ** 24

/** `log`: the URL of the only log to follow. `logKey`: a file with its key, if no list has it. */
export type FollowOptions = { log: string | null; logKey: string | null; isOnce: boolean; isReadmitted: boolean }
/** `warn`: a problem of the opt-out list or of the list of logs. */
export type FollowEvents = Pick<LogFollowing, 'onNames' | 'onBatch' | 'onProblem'> & { warn(message: string): void }

/**
 * Follows until the signal. Bounds the young generation of the process. Throws CommandFault if the list or the key of a
 * log is unusable.
 */
export async function followConfiguredLogs(
  settings: Settings,
  store: Store,
  { log, logKey, isOnce, isReadmitted }: FollowOptions,
  events: FollowEvents,
  signal: AbortSignal,
): Promise<void> {
  const optOut = openConfiguredOptOut(settings, events.warn)
  const agent = userAgentOf(settings.crawlContact)
  const client = openLogClient(agent, signal)
  const mayConnect = log === null && isDownloaded(settings.ctList) ? publicOnly() : null
  const logClient = openLogClient(agent, signal, mayConnect)
  const boundYoungGeneration = youngGenerationBound(YOUNG_GENERATION_BYTES)
  try {
    const readLogs = (): Promise<CertificateLog[]> => configuredLogs(settings, { log, logKey }, client.get)
    if (isReadmitted) for (const { id } of await readLogs()) await store.certificateLogs.readmit(id)
    await followListedLogs({
      ...events,
      onBatch(...batch) {
        boundYoungGeneration()
        events.onBatch(...batch)
      },
      ...{ readLogs, store, isOnce, signal, optOut, client: logClient, startBack: settings.ctStartBack },
      keepsCertificates: settings.ctCertificates,
      onListProblem: ({ message }) => events.warn(message),
      holder: processHolderName(),
      wait: (milliseconds, ended) => sleep(milliseconds, undefined, { signal: ended }),
    })
  } finally {
    optOut.close()
    await Promise.all([client.close(), logClient.close()])
  }
}

async function configuredLogs(
  { ctList, ctListKey }: Settings,
  { log, logKey }: Pick<FollowOptions, 'log' | 'logKey'>,
  get: LogGet,
): Promise<CertificateLog[]> {
  const listed = (): Promise<CertificateLog[]> => readLogList(ctList, ctListKey, get)
  try {
    return log === null ? await listed() : [await logAtUrl(log, { keyPath: logKey, listed, get })]
  } catch (error) {
    throw error instanceof InputError ? new CommandFault(error.message) : error
  }
}
