/** Errors of PostgreSQL: which ones are retried, and their messages for the user. */

import { setTimeout as sleep } from 'node:timers/promises'
import { StoreFault, StoreUnavailableFault } from '../../port/fault.ts'
import { redactPostgresUrl } from '../locations.ts'
import { lostWorkerOf } from './citus/lost-worker.ts'
import { SERVER_SILENT_MESSAGE } from './client.ts'

/** Milliseconds for which a connection is retried: a restarting server is back by then. */
const CONNECT_RETRY_MS = 10_000
const CONNECT_RETRY_DELAY_MS = 100

/** The server closed the connection, https://www.postgresql.org/docs/current/errcodes-appendix.html. */
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
/** Messages of pg that have no code. */
const CONNECTION_LOST_PATTERN =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'
const IN_FAILED_TRANSACTION = '25P02'
const LOCK_NOT_AVAILABLE = '55P03'
const QUERY_CANCELED = '57014'
const INVALID_SQL_STATEMENT_NAME = '26000'
const DUPLICATE_PREPARED_STATEMENT = '42P05'
const DISK_FULL = '53100'
/** Internal errors and corrupt data, an I/O error, and a missing file. */
const DAMAGE_CODE = /^(XX\w{3}|58030|58P01)$/

const MESSAGES_BY_CODE: Record<string, string> = {
  '28000': 'the server denies access: check user, database and pg_hba.conf',
  '28P01': 'the server denies access: user or password is wrong',
  '3D000': 'the database does not exist: create it (createdb) or use another one',
  '42501': 'the user lacks a permission: make it the owner of the schema',
  '3F000': 'the schema of this connection (search_path) does not exist',
  [DISK_FULL]: 'the disk of the server is full; what was not finished was not written',
  '53300':
    'the server has no free connections: raise max_connections or the connection limit of the role, or lower DOMAINDEX_POOL',
  [LOCK_NOT_AVAILABLE]: 'another process has locked rows: try again when it has ended',
  [QUERY_CANCELED]: 'a statement timed out and was cancelled',
  '25006': 'the server is read-only: use the primary server',
  '42P01': 'tables of the store are missing: restore them from a backup, or use another database',
  '42P07':
    'it contains tables of another program: use a separate database, or a separate schema with ?options=-csearch_path=NAME',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name: use the name in the certificate',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ENOTFOUND: 'its host name has no address: check the name',
}
/** Errors of a server that is unavailable although its connections still exist. */
const UNAVAILABLE_CODES = ['53300']
/** By messages of pg, pg-pool and OpenSSL, for errors without a code or with many. */
const MESSAGES_BY_PATTERN: [RegExp, string][] = [
  [/^timeout exceeded when trying to connect$/, 'the connections of this process are all in use: raise DOMAINDEX_POOL'],
  [/^The server does not support SSL/, 'the server does not support TLS: set ssl = on there, or remove sslmode'],
  [/client password must be a/, 'the server requires a password, but the URL has none'],
  [
    /self-signed certificate|unable to (get|verify).*(issuer|first) certificate/,
    'its certificate is not trusted: set sslrootcert=PATH to the certificate of its authority',
  ],
]
const UNREACHABLE_MESSAGE = 'the server does not respond: check that it runs, and check host and port'

function errorCode(error: unknown): string {
  return String((error as { code?: unknown }).code ?? '')
}

/** No connection could be opened within the retry time. It is not retried again. */
class UnreachableError extends Error {}

/** Whether the connection is lost, and with it all uncommitted changes. */
export function isConnectionLost(error: unknown): boolean {
  if (isFileError(error) || lostWorkerOf(error) !== null) return false
  const code = errorCode(error)
  return (
    SHUTDOWN_CODES.includes(code) ||
    SYSTEM_ERROR_CODES.includes(code) ||
    CONNECTION_LOST_PATTERN.test((error as Error).message)
  )
}

/** Whether the server aborted a transaction that can be retried. */
export function isCollision(error: unknown): boolean {
  return [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].includes(errorCode(error))
}

/**
 * Whether a statement failed because an earlier one of the same transaction failed: all statements that were sent
 * together fail.
 */
export function isFollowUpError(error: unknown): boolean {
  return errorCode(error) === IN_FAILED_TRANSACTION || isUnprepared(error)
}

/**
 * Whether a statement failed because an earlier statement, which was to prepare it, failed. If several statements are
 * sent again after that, pg may prepare the same name twice.
 */
export function isUnprepared(error: unknown): boolean {
  return [INVALID_SQL_STATEMENT_NAME, DUPLICATE_PREPARED_STATEMENT].includes(errorCode(error))
}

/**
 * Returns the message of an error that concerns stored data: corrupt pages and rows (class XX), and files that cannot
 * be read. Throws any other error.
 */
export function damageMessage(error: unknown): string {
  if (lostWorkerOf(error) !== null || !DAMAGE_CODE.test(errorCode(error))) throw error
  return (error as Error).message
}

/** Whether a statement timed out waiting for a lock, also if the error is wrapped in a StoreFault. */
export function isLocked(error: unknown): boolean {
  return hasCode(error, LOCK_NOT_AVAILABLE)
}

/** The same for a statement that took too long. */
export function isTimedOut(error: unknown): boolean {
  return hasCode(error, QUERY_CANCELED)
}

function hasCode(error: unknown, code: string): boolean {
  return [error, (error as { cause?: unknown }).cause ?? {}].some((cause) => errorCode(cause) === code)
}

/** Whether the connection was closed because the server was silent. A new connection would not help. */
export function isServerSilent(error: unknown): boolean {
  return (error as Error).message === SERVER_SILENT_MESSAGE
}

/**
 * Converts an error that a user can fix to a StoreFault, and returns any other unchanged. `url`: that of the database.
 */
export function toStoreFault(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreFault) return error
  const message = userMessage(error)
  if (message === null) return error
  const isUnreachable = isUnavailable(error) || UNAVAILABLE_CODES.includes(errorCode(error))
  return new (isUnreachable ? StoreUnavailableFault : StoreFault)(`${redactPostgresUrl(url)}: ${message}`, {
    cause: error,
    isDiskFull: errorCode(error) === DISK_FULL,
  })
}

function userMessage(error: Error): string | null {
  const worker = lostWorkerOf(error)
  if (worker !== null) return `the worker ${worker} does not respond: check that it runs`
  const message =
    MESSAGES_BY_CODE[errorCode(error)] ?? MESSAGES_BY_PATTERN.find(([phrase]) => phrase.test(error.message))?.[1]
  if (message !== undefined) return message
  if (isUnavailable(error)) return UNREACHABLE_MESSAGE
  if (isFileError(error)) return `a file in the URL cannot be read: ${error.path}`
  return (error as { severity?: string }).severity === 'FATAL'
    ? `the server refuses the connection: ${error.message}`
    : null
}

/** Whether a certificate or key on this machine cannot be read. */
function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return (error as NodeJS.ErrnoException).syscall === 'open'
}

function isUnavailable(error: Error): boolean {
  return error instanceof UnreachableError || isConnectionLost(error) || lostWorkerOf(error) !== null
}

/**
 * Retries until it connects, for at most as long as a restart of the server may take. A later connection is passed to
 * `releaseLate`.
 */
export async function connectWithRetry<Result>(
  connect: () => Promise<Result>,
  releaseLate: (late: Result) => void = () => {},
): Promise<Result> {
  const deadline = performance.now() + CONNECT_RETRY_MS
  for (;;) {
    try {
      return await withTimeout(connect(), deadline - performance.now(), releaseLate)
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      if (performance.now() > deadline) throw new UnreachableError('no connection', { cause: error })
      await sleep(CONNECT_RETRY_DELAY_MS)
    }
  }
}

async function withTimeout<Result>(
  connecting: Promise<Result>,
  milliseconds: number,
  releaseLate: (late: Result) => void,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const timedOut = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, milliseconds, null)
  })
  const connected = await Promise.race([connecting.then((result) => ({ result })), timedOut])
  clearTimeout(timer)
  if (connected !== null) return connected.result
  connecting.then(releaseLate, () => {})
  throw new UnreachableError('no connection')
}
