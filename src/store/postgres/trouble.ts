/** What can go wrong with a PostgreSQL: what is worth another try, and the words for who runs it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { AwayFault, StoreFault } from '../fault.ts'
import { shown } from '../url.ts'
import { SILENT } from './client.ts'

/** How long a connection is tried for: a server that restarts is back within that. */
const PATIENCE_MILLISECONDS = 10_000
const BETWEEN_MILLISECONDS = 100

/** Ends of connections by the server, https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const SHUT_DOWN = ['57P01', '57P02', '57P03', '57P05', '25P03', '08000', '08003', '08006', '08001', '08004']
const SYSTEM = ['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ENOENT', 'ETIMEDOUT', 'EHOSTUNREACH']
/** pg's own words, which have no code. */
const LOST = /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'
const IN_FAILED_TRANSACTION = '25P02'
const LOCK_NOT_AVAILABLE = '55P03'
const INVALID_SQL_STATEMENT_NAME = '26000'

const WORDS: Record<string, string> = {
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
const ABSENT = ['53300']
/** For what has no code, or many: the words of pg, pg-pool and OpenSSL. */
const PHRASES: [RegExp, string][] = [
  [/^timeout exceeded when trying to connect$/, 'the connections of this process are all in use: raise DOMAINDEX_POOL'],
  [/^The server does not support SSL/, 'it takes no TLS: set ssl = on there, or leave sslmode out'],
  [/client password must be a/, 'it asks for a password, and the URL has none'],
  [
    /self-signed certificate|unable to (get|verify).*(issuer|first) certificate/,
    'its certificate is not one to trust: name that of its authority by sslrootcert=PATH',
  ],
]
const UNREACHABLE = 'nothing answers there: look whether the server runs, and at host and port'

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? '')
}

/** No connection was to be had for as long as it was tried: nobody tries again. */
class Unreachable extends Error {}

/** True where the connection is gone, and with it what was not committed. */
export function isLost(error: unknown): boolean {
  if (isOfFile(error)) return false
  const code = codeOf(error)
  return SHUT_DOWN.includes(code) || SYSTEM.includes(code) || LOST.test((error as Error).message)
}

/** True where the server gave up a transaction that can simply be run again. */
export function isCollision(error: unknown): boolean {
  return [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].includes(codeOf(error))
}

/** True for a statement that failed because one before it did: those that were sent together all fail. */
export function isConsequence(error: unknown): boolean {
  return codeOf(error) === IN_FAILED_TRANSACTION || isUnprepared(error)
}

/** True for a statement that was sent behind the one that was to prepare it, and that one failed. */
export function isUnprepared(error: unknown): boolean {
  return codeOf(error) === INVALID_SQL_STATEMENT_NAME
}

/** True for a statement that gave up waiting for a lock, also where that was put in words already. */
export function isLocked(error: unknown): boolean {
  return [error, (error as { cause?: unknown }).cause ?? {}].some((each) => codeOf(each) === LOCK_NOT_AVAILABLE)
}

/** True where the connection was given up because the server said nothing: another one would hear no more. */
export function isSilent(error: unknown): boolean {
  return (error as Error).message === SILENT
}

/** The error as a StoreFault where a user can mend it, otherwise as it is. `url` is where the database lies. */
export function inWords(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreFault) return error
  const words = wordsOf(error)
  if (words === null) return error
  const isAbsent = isAway(error) || ABSENT.includes(codeOf(error))
  return new (isAbsent ? AwayFault : StoreFault)(`${shown(url)}: ${words}`, { cause: error })
}

function wordsOf(error: Error): string | null {
  const words = WORDS[codeOf(error)] ?? PHRASES.find(([phrase]) => phrase.test(error.message))?.[1]
  if (words !== undefined) return words
  if (isAway(error)) return UNREACHABLE
  if (isOfFile(error)) return `a file that the URL names cannot be read: ${error.path}`
  return (error as { severity?: string }).severity === 'FATAL' ? `it refuses the connection: ${error.message}` : null
}

/** True for a certificate or key on this machine that cannot be read. */
function isOfFile(error: unknown): error is NodeJS.ErrnoException {
  return (error as NodeJS.ErrnoException).syscall === 'open'
}

function isAway(error: Error): boolean {
  return error instanceof Unreachable || isLost(error)
}

/** Tries to connect until it succeeds, for as long as a restart of the server may take; `spare` gets what comes later. */
export async function patiently<Result>(
  connect: () => Promise<Result>,
  spare: (late: Result) => void = () => {},
): Promise<Result> {
  const until = performance.now() + PATIENCE_MILLISECONDS
  for (;;) {
    try {
      return await inTime(connect(), until - performance.now(), spare)
    } catch (error) {
      if (!isLost(error)) throw error
      if (performance.now() > until) throw new Unreachable('no connection', { cause: error })
      await sleep(BETWEEN_MILLISECONDS)
    }
  }
}

async function inTime<Result>(
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
  throw new Unreachable('no connection')
}
