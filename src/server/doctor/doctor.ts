/** The doctor: examines an installation, and says of each part whether it is in order, or what to do. */

import { withTimeout } from '../../api/http/timers.ts'
import { CommandFault } from '../../config/command-fault.ts'
import { type Settings, SettingsFault } from '../../config/settings.ts'
import { BuildFault } from '../../jobs/file-store/build-fault.ts'
import type { DnsServer } from '../../probe/dns/server.ts'
import { userMessageOf } from '../../store/engines.ts'
import { StoreFault } from '../../store/port/fault.ts'
import type { Store } from '../../store/port/store.ts'
import { examineFilesOfNoStore, examineInbox, examineJobs, examineMail, examinePlaces } from './files.ts'
import { type Finding, fault, off } from './finding.ts'
import { examineDisks, examineFileLimit, examineListeners } from './machine.ts'
import { examineReachability, examineResolvers } from './network.ts'
import { examineOptOut, examinePlans } from './setting-files.ts'
import {
  examineBackups,
  examineCertificateLogs,
  examineCrawl,
  examineIndexes,
  examineStore,
  examineWebhooks,
} from './store.ts'

/**
 * `store` opens the store, or returns null if there is none. `resolvers`: those of the system if there are none.
 * `hasNetwork`: whether to examine the network of the crawler.
 */
export type DoctorOptions = {
  settings: Settings
  store: () => Promise<Store | null>
  resolvers: readonly DnsServer[]
  hasNetwork: boolean
}

/** The maximum number of milliseconds for one part. */
const PART_TIMEOUT_MS = 20_000

/** What needs the store. The subject is that of the finding if it cannot be examined. */
const STORE_PARTS: readonly [subject: string, examine: (settings: Settings, store: Store) => Promise<Finding[]>][] = [
  ['store', examineStore],
  ['indexes', examineIndexes],
  ['backup', examineBackups],
  ['places for files', examinePlaces],
  ['jobs', examineJobs],
  ['inbox', examineInbox],
  ['crawl', examineCrawl],
  ['certificate logs', examineCertificateLogs],
  ['webhooks', examineWebhooks],
]

/** Examines everything, in an order from the machine to the services. Never rejects. */
export async function examineInstallation(options: DoctorOptions): Promise<Finding[]> {
  const { settings, resolvers, hasNetwork } = options
  let store: Store | null = null
  let storeFinding: Finding | null = null
  try {
    store = await options.store()
    if (store === null) storeFinding = off('store', 'there is none yet: serve, import and crawl create it')
  } catch (error) {
    storeFinding = failedPart('store', error)
  }
  const storeBytes = await store?.maintenance.sizes().catch(() => null)
  const findings = [
    ...(await examinePart('disks', () => examineDisks(settings, storeBytes?.facts ?? null))),
    ...(await examinePart('open files', () => examineFileLimit(settings))),
    ...(await examinePart('listeners', () => examineListeners(settings))),
    ...(await examinePart('plans', () => examinePlans(settings))),
    ...(await examinePart('opt-out list', () => examineOptOut(settings))),
  ]
  if (storeFinding !== null) findings.push(storeFinding)
  if (store === null) findings.push(...(await examinePart('places for files', () => examineFilesOfNoStore(settings))))
  else
    for (const [subject, examine] of STORE_PARTS)
      findings.push(...(await examinePart(subject, () => examine(settings, store))))
  findings.push(...(await examinePart('mail', () => examineMail(settings))))
  if (!hasNetwork) return findings
  const network = [
    examinePart('resolvers', () => examineResolvers(settings, resolvers)),
    examinePart('internet', () => examineReachability(settings)),
  ]
  return [...findings, ...(await Promise.all(network)).flat()]
}

async function examinePart(subject: string, examine: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    const findings = await withTimeout(examine(), PART_TIMEOUT_MS)
    return (
      findings ?? [fault(subject, `no answer within ${PART_TIMEOUT_MS / 1_000} seconds`, 'check what it depends on')]
    )
  } catch (error) {
    return [failedPart(subject, error)]
  }
}

function failedPart(subject: string, error: unknown): Finding {
  const isPlain = [StoreFault, CommandFault, SettingsFault, BuildFault].some((kind) => error instanceof kind)
  const message = isPlain ? (error as Error).message : userMessageOf(error)
  if (message !== null) return fault(subject, message, 'see docs/incidents.md if you cannot correct it')
  return fault(subject, `it cannot be examined: ${(error as Error).message}`, 'the other lines may say why')
}
