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
 * `hasNetwork`: whether to examine the network of the crawler. `openTimeout`: milliseconds for `store`. `onFindings`
 * receives the findings of each part as soon as they and those of all parts before it are known.
 */
export type DoctorOptions = {
  settings: Settings
  store: () => Promise<Store | null>
  resolvers: readonly DnsServer[]
  hasNetwork: boolean
  openTimeout?: number
  onFindings?: (findings: readonly Finding[]) => void
}

/** The maximum number of milliseconds for one part, to open the store, and to measure its size. */
const PART_TIMEOUT_MS = 20_000
const OPEN_TIMEOUT_MS = 12_000
const SIZE_TIMEOUT_MS = 5_000

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
  const all: Finding[] = []
  for await (const findings of examineParts(options)) {
    options.onFindings?.(findings)
    all.push(...findings)
  }
  return all
}

/** The parts run at once, except that those of the store begin after the measurement of the disks. */
async function* examineParts({
  settings,
  resolvers,
  hasNetwork,
  ...options
}: DoctorOptions): AsyncGenerator<Finding[]> {
  const machine = [
    examinePart('open files', () => examineFileLimit(settings)),
    examinePart('listeners', () => examineListeners(settings)),
    examinePart('plans', () => examinePlans(settings)),
    examinePart('opt-out list', () => examineOptOut(settings)),
  ]
  const services = [
    examinePart('mail', () => examineMail(settings)),
    ...(hasNetwork
      ? [
          examinePart('resolvers', () => examineResolvers(settings, resolvers)),
          examinePart('internet', () => examineReachability(settings)),
        ]
      : []),
  ]
  const opening = openPart(options)
  yield* machine
  const { store, findings } = await opening
  const sizes = store && (await withTimeout(store.maintenance.sizes(), SIZE_TIMEOUT_MS).catch(() => null))
  yield examinePart('disks', () => examineDisks(settings, sizes?.facts ?? null))
  if (findings.length > 0) yield findings
  if (store === null) yield examinePart('places for files', () => examineFilesOfNoStore(settings))
  else yield* STORE_PARTS.map(([subject, examine]) => examinePart(subject, () => examine(settings, store)))
  yield* services
}

/** The store, or null and the finding that says why. */
async function openPart({
  store: open,
  openTimeout = OPEN_TIMEOUT_MS,
}: Pick<DoctorOptions, 'store' | 'openTimeout'>): Promise<{ store: Store | null; findings: Finding[] }> {
  try {
    const opened = await withTimeout(
      open().then((store) => ({ store })),
      openTimeout,
    )
    if (opened === null) return { store: null, findings: [silentPart('store', openTimeout)] }
    const none = off('store', 'there is none yet: serve, import and crawl create it')
    return { store: opened.store, findings: opened.store === null ? [none] : [] }
  } catch (error) {
    return { store: null, findings: [failedPart('store', error)] }
  }
}

async function examinePart(subject: string, examine: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return (await withTimeout(examine(), PART_TIMEOUT_MS)) ?? [silentPart(subject, PART_TIMEOUT_MS)]
  } catch (error) {
    return [failedPart(subject, error)]
  }
}

function silentPart(subject: string, milliseconds: number): Finding {
  return fault(subject, `no answer within ${milliseconds / 1_000} seconds`, 'check what it depends on')
}

function failedPart(subject: string, error: unknown): Finding {
  const isPlain = [StoreFault, CommandFault, SettingsFault, BuildFault].some((kind) => error instanceof kind)
  const message = isPlain ? (error as Error).message : userMessageOf(error)
  if (message !== null) return fault(subject, message, 'see docs/incidents.md if you cannot correct it')
  return fault(subject, `it cannot be examined: ${(error as Error).message}`, 'the other lines may say why')
}
