/** Examines this machine: its disks, the limit of open files, and the ports of the listeners. */

import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import type { ListenAddress } from '../../config/parse.ts'
import { SETTINGS, type Settings } from '../../config/settings.ts'
import { diskSpaceAt, fileMessageOf, nearestExisting, shortageAt } from '../../store/shared/disk.ts'
import { SIZED_PLACES } from '../../store/size-history.ts'
import { disksOf } from '../disks.ts'
import { bracketedHost, listenFault } from '../listen-fault.ts'
import { type Finding, fault, off, ok, warning } from './finding.ts'

/** Bytes that are written to measure a disk, and the number and size of the writes that are each forced to the disk. */
const SPEED_BYTES = 8 * 2 ** 20
const SYNC_WRITES = 20
const SYNC_BYTES = 4_096
/** A write that takes longer, in milliseconds, slows every import down. */
const SLOW_SYNC_MS = 20
/** Descriptors besides those of connections: files of the store, connections to it, listeners. */
const OTHER_DESCRIPTORS = 256
const ANSWER_TIMEOUT_MS = 3_000
/** The bytes of an answer that are read. The metrics of a server are shorter. */
const MAX_ANSWER_BYTES = 4 * 2 ** 20

/** Examines each disk that the settings name, once. `storeBytes`: the size of the store; null if it is not known. */
export async function examineDisks(settings: Settings, storeBytes: number | null): Promise<Finding[]> {
  const { jobTimes, diskFree } = settings
  const disks = await disksOf(settings, jobTimes === null ? ['store', 'files'] : SIZED_PLACES)
  const findings: Finding[] = []
  for (const { path } of disks) {
    const subject = `disk of ${path}`
    const shortage = diskFree === null ? null : await shortageAt(path, diskFree)
    if (shortage !== null)
      findings.push(fault(subject, shortage, 'imports, crawls and builds pause until there is space'))
    else findings.push(await spaceFinding(subject, path, storeBytes), await speedFinding(subject, folderAt(path)))
  }
  return findings
}

async function spaceFinding(subject: string, path: string, storeBytes: number | null): Promise<Finding> {
  const space = await diskSpaceAt(path)
  if (space === null) return off(subject, 'its free space is unknown')
  const free = `${gibibytes(space.free)} of ${gibibytes(space.total)} free`
  if (storeBytes !== null && space.free < storeBytes)
    return warning(
      subject,
      `${free}, less than the store has`,
      'back up to another disk, because a backup does not fit here',
    )
  return ok(subject, free)
}

const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`

/** The path if it is a folder; otherwise its nearest parent folder that exists. */
function folderAt(path: string): string {
  const existing = nearestExisting(path)
  return statSync(existing).isDirectory() ? existing : dirname(existing)
}

/** Writes a file, measures how long that takes, and removes it. */
async function speedFinding(subject: string, folder: string): Promise<Finding> {
  const path = join(folder, `.doctor-${randomUUID()}`)
  try {
    const { rate, sync } = await measureWrites(path)
    const speed = `writes ${Math.round(rate / 2 ** 20)} MiB per second, ${sync.toFixed(1)} ms until a write is on disk`
    if (sync > SLOW_SYNC_MS) return warning(subject, speed, 'imports and crawls will be slow: use a faster disk')
    return ok(subject, speed)
  } catch (error) {
    const message = fileMessageOf(error)
    if (message === null) throw error
    return fault(subject, message, 'run all commands as the user who owns the store')
  } finally {
    await rm(path, { force: true }).catch(() => {})
  }
}

/** `rate`: bytes per second. `sync`: the median milliseconds of a small write that is forced to the disk. */
async function measureWrites(path: string): Promise<{ rate: number; sync: number }> {
  const file = await open(path, 'wx', 0o600)
  try {
    await rm(path).catch(() => {}) // so that nothing stays if this process is killed; Windows removes no open file
    const startedAt = performance.now()
    await file.write(Buffer.alloc(SPEED_BYTES, 1))
    await file.sync()
    const rate = SPEED_BYTES / ((performance.now() - startedAt) / 1_000)
    const times: number[] = []
    const block = Buffer.alloc(SYNC_BYTES, 2)
    for (let index = 0; index < SYNC_WRITES; index++) {
      const before = performance.now()
      await file.write(block, 0, SYNC_BYTES, index * SYNC_BYTES)
      await file.datasync()
      times.push(performance.now() - before)
    }
    return { rate, sync: times.sort((a, b) => a - b)[SYNC_WRITES >> 1]! }
  } finally {
    await file.close()
  }
}

/** Compares the limit of open files with the maximum number of connections. Only Linux tells it. */
export async function examineFileLimit({ connections }: Settings): Promise<Finding[]> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, text] = /^Max open files\s+\S+\s+(\S+)/m.exec(limits) ?? []
  if (text === undefined) return [off('open files', 'the limit of this system is unknown')]
  const limit = text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text)
  const needed = connections + OTHER_DESCRIPTORS
  if (limit < needed)
    return [
      warning(
        'open files',
        `at most ${limit}, but DOMAINDEX_CONNECTIONS is ${connections}`,
        `raise the limit to ${needed} (LimitNOFILE in systemd, ulimit -n in a shell), or lower the setting`,
      ),
    ]
  return [ok('open files', `at most ${text}`)]
}

/** The names of the settings of a listener's host and port. */
type ListenerSettings = { host: string; port: string }

/** Examines the public listener and the two admin listeners: free, or a server that is ready. */
export async function examineListeners({ host, port, admin, crawlAdmin }: Settings): Promise<Finding[]> {
  const ofSetting = ({ name }: { name: string }): ListenerSettings => ({ host: name, port: name })
  const api: ListenerSettings = { host: SETTINGS.host.name, port: SETTINGS.port.name }
  const listeners: [subject: string, address: ListenAddress | null, path: string, names: ListenerSettings][] = [
    ['API', { host, port }, '/readyz', api],
    ['metrics', admin, '/metrics', ofSetting(SETTINGS.admin)],
    ['metrics of the crawl', crawlAdmin, '/readyz', ofSetting(SETTINGS.crawlAdmin)],
  ]
  return Promise.all(
    listeners.map(([subject, address, path, names]) =>
      address === null ? off(subject, `${names.port} is off`) : examineListener(subject, address, path, names),
    ),
  )
}

async function examineListener(
  subject: string,
  address: ListenAddress,
  path: string,
  names: ListenerSettings,
): Promise<Finding> {
  const { host, port } = address
  const error = await listenOnce(address)
  if (error === null) return ok(subject, `nothing listens on ${bracketedHost(host)}:${port}`)
  if (error.code !== 'EADDRINUSE')
    return fault(subject, listenFault(error, address, names).message, 'a server cannot start until then')
  const response = await readOwnListener(address, path)
  if (response === null)
    return fault(
      subject,
      `another program listens on ${bracketedHost(host)}:${port}`,
      `end it, or change ${names.port}`,
    )
  if (response.status === 503)
    return fault(subject, `the server is not ready: ${response.reason}`, 'its log says why (docs/incidents.md)')
  return ok(subject, `domaindex answers on ${bracketedHost(host)}:${port}`)
}

/** Listens for a moment. Returns the error if that is not possible. */
function listenOnce({ host, port }: ListenAddress): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(null)))
  })
}

/** Null if what listens there is not domaindex, or does not answer. */
async function readOwnListener({ host, port }: ListenAddress, path: string) {
  const name = host === '0.0.0.0' || host === '' ? '127.0.0.1' : host === '::' ? '::1' : host
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
    const response = await fetch(`http://${bracketedHost(name)}:${port}${path}`, { signal, redirect: 'error' })
    const text = await readStart(response)
    const reason = path === '/metrics' ? (text.includes('domaindex_') ? '' : null) : readinessOf(response, text)
    return reason === null ? null : { status: response.status, reason }
  } catch {
    return null
  }
}

/** The body as text, up to MAX_ANSWER_BYTES. */
async function readStart({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) break
  }
  return Buffer.concat(chunks).toString().trim()
}

/** What /readyz of the API (JSON) or of a crawler (text) says; null if it is neither. */
function readinessOf({ status, headers }: Response, text: string): string | null {
  const [type] = (headers.get('content-type') ?? '').split(';')
  if (type === 'application/json') return (JSON.parse(text) as { status?: string }).status ?? null
  if (type !== 'text/plain') return null
  return status === 503 ? text.slice(0, 200) : text === 'ready' ? text : null
}
