/** Finds the cause of an error of the client library, which decides on the exit code. */

import { DomaindexError, DownloadError, InvalidResponseError, NetworkError } from '../../../client/src/client.ts'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import { ClientFault, type ExitCause } from '../program/client-fault.ts'

/** Causes after which further calls are useless. */
const FINAL_CAUSES: readonly ExitCause[] = ['token', 'plan', 'quota', 'network']

export function isFinal(cause: ExitCause): boolean {
  return FINAL_CAUSES.includes(cause)
}

const CAUSES_BY_STATUS: Readonly<Record<number, ExitCause>> = {
  400: 'usage',
  401: 'token',
  403: 'plan',
  404: 'noData',
  413: 'usage',
  429: 'quota',
}

/** The cause of an error of the client library; null for another error. */
export function causeOf(error: unknown): ExitCause | null {
  if ([NetworkError, InvalidResponseError, DownloadError].some((each) => error instanceof each)) return 'network'
  if (error instanceof UsageFault) return 'usage'
  if (!(error instanceof DomaindexError)) return null
  return error.error === 'endpoint_unknown' ? 'network' : (CAUSES_BY_STATUS[error.status] ?? 'network')
}

/**
 * Whether a server has no such path, as another vendor's server lacks those outside /v1.0/, or a proxy before it refuses
 * the request, for example for its size.
 */
export function isNoSuchPath(error: unknown): boolean {
  if (error instanceof InvalidResponseError) return error.status >= 400 && error.status < 500
  if (!(error instanceof DomaindexError) || error.error === 'no_data') return false
  return error.status === 404 || error.status === 405
}

/** The error to throw for an error of the client library. Another error stays. */
export function toClientFault(error: unknown): unknown {
  const cause = causeOf(error)
  return cause === null || error instanceof CommandFault ? error : new ClientFault((error as Error).message, cause)
}
