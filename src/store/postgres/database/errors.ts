/** What can go wrong with a PostgreSQL: what is worth another try, and the words for who runs it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { StoreFault, StoreUnavailableFault } from '../../port/fault.ts'
import { redactedStoreUrl } from '../../port/url.ts'
import { SERVER_SILENT_MESSAGE } from './client.ts'

/** How long a connection is tried for: a server that restarts is back within that. */
const CONNECT_RETRY_MS = 10_000
const CONNECT_RETRY_DELAY_MS = 100

/** Ends of connections by the server, https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const SHUTDOWN_CODES = ['57P01', '57P02', '57P03', '57P05', '25P03', '08000', '08003', '08006', '08001', '08004']
const SYSTEM_ERROR_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
]
/** pg's own words, which have no code. */
const CONNECTION_LOST_PATTERN =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'
const IN_FAILED_TRANSACTION = '25P02'
const LOCK_NOT_AVAILABLE = '55P03'
const INVALID_SQL_STATEMENT_NAME = '26000'

const MESSAGES_BY_CODE: Record<string, string> = {
  '28000': 'it does not let this user in: look at user, database and pg_hba.conf',
  '28P01': 'it does not let this user in: user or password is wrong',
  '3D000': 'there is no such database: make it (createdb), or name another one',
  '42501': 'this user may not do that: let it own the schema',
  '3F000': 'the schema of this connection (search_path) is not there',
  '53100': 'the disk of the server is full; what was not finished was not written',
  '53300':
    'it has no connection left: raise max_connections or the connection limit of the role, or lower DOMAINDEX_POOL',
  '55P03': 'another process keeps rows locked: try again when it has ended',
  '57014': 'a statement took too long and was given up',
  '25006': 'it may only be read: name the primary server',
  '42P01': 'tables of the store are missing: restore them from a backup, or name another database',
  '42P07':
    'tables of another program are in the way: give domaindex a database, or by ?options=-csearch_path=NAME a schema, of its own',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is of another name: write the host as the certificate does',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ENOTFOUND: 'its host has no address: look at the name',
}
/** Codes of a server that cannot be asked for now, and whose connections are not lost. */
const UNAVAILABLE_CODES = ['53300']
/** For what has no code, or many: the words of pg, pg-pool and OpenSSL. */
const MESSAGES_BY_PATTERN: [RegExp, string][] = [
  [/^timeout exceeded when trying to connect$/, 'the connections of this process are all in use: raise DOMAINDEX_POOL'],
  [/^The server does not support SSL/, 'it takes no TLS: set ssl = on there, or leave sslmode out'],
  [/client password must be a/, 'it asks for a password, and the URL has none'],
  [
    /self-signed certificate|unable to (get|verify).*(issuer|first) certificate/,
    'its certificate is not one to trust: name that of its authority by sslrootcert=PATH',
  ],
]
const UNREACHABLE_MESSAGE = 'nothing answers there: look whether the server runs, and at host and port'

function errorCode(error: unknown): string {
  return String((error as { code?: unknown }).code ?? '')
}

/** No connection was to be had for as long as it was tried: nobody tries again. */
class UnreachableError extends Error {}

/** True where the connection is gone, and with it what was not committed. */
export function isConnectionLost(error: unknown): boolean {
  if (isFileError(error)) return false
  const code = errorCode(error)
  return (
    SHUTDOWN_CODES.includes(code) ||
    SYSTEM_ERROR_CODES.includes(code) ||
    CONNECTION_LOST_PATTERN.test((error as Error).message)
  )
}

/** True where the server gave up a transaction that can simply be run again. */
export function isCollision(error: unknown): boolean {
  return [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].includes(errorCode(error))
}

/** True for a statement that failed because one before it did: those that were sent together all fail. */
export function isFollowUpError(error: unknown): boolean {
  return errorCode(error) === IN_FAILED_TRANSACTION || isUnprepared(error)
}

/** True for a statement that was sent behind the one that was to prepare it, and that one failed. */
export function isUnprepared(error: unknown): boolean {
  return errorCode(error) === INVALID_SQL_STATEMENT_NAME
}

/** True for a statement that gave up waiting for a lock, also where that was put in words already. */
export function isLocked(error: unknown): boolean {
  return [error, (error as { cause?: unknown }).cause ?? {}].some((each) => errorCode(each) === LOCK_NOT_AVAILABLE)
}

/** True where the connection was given up because the server said nothing: another one would hear no more. */
export function isServerSilent(error: unknown): boolean {
  return (error as Error).message === SERVER_SILENT_MESSAGE
}

/** The error as a StoreFault where a user can mend it, otherwise as it is. `url` is where the database lies. */
export function toStoreFault(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreFault) return error
  const words = userMessage(error)
  if (words === null) return error
  const isAbsent = isUnavailable(error) || UNAVAILABLE_CODES.includes(errorCode(error))
  return new (isAbsent ? StoreUnavailableFault : StoreFault)(`${redactedStoreUrl(url)}: ${words}`, { cause: error })
}

function userMessage(error: Error): string | null {
  const words =
    MESSAGES_BY_CODE[errorCode(error)] ?? MESSAGES_BY_PATTERN.find(([phrase]) => phrase.test(error.message))?.[1]
  if (words !== undefined) return words
  if (isUnavailable(error)) return UNREACHABLE_MESSAGE
  if (isFileError(error)) return `a file that the URL names cannot be read: ${error.path}`
  return (error as { severity?: string }).severity === 'FATAL' ? `it refuses the connection: ${error.message}` : null
}

/** True for a certificate or key on this machine that cannot be read. */
function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return (error as NodeJS.ErrnoException).syscall === 'open'
}

function isUnavailable(error: Error): boolean {
  return error instanceof UnreachableError || isConnectionLost(error)
}

/** Tries to connect until it succeeds, for as long as a restart of the server may take; `spare` gets what comes later. */
export async function connectWithRetry<Result>(
  connect: () => Promise<Result>,
  releaseLate: (late: Result) => void = () => {},
): Promise<Result> {
  const until = performance.now() + CONNECT_RETRY_MS
  for (;;) {
    try {
      return await withTimeout(connect(), until - performance.now(), releaseLate)
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      if (performance.now() > until) throw new UnreachableError('no connection', { cause: error })
      await sleep(CONNECT_RETRY_DELAY_MS)
    }
  }
}

async function withTimeout<Result>(
  connecting: Promise<Result>,
  milliseconds: number,
  spare: (late: Result) => void,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, milliseconds, null)
  })
  const connected = await Promise.race([connecting.then((result) => ({ result })), over])
  clearTimeout(timer)
  if (connected !== null) return connected.result
  connecting.then(spare, () => {})
  throw new UnreachableError('no connection')
}
