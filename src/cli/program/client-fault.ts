/** The exit codes of the client commands: one for each cause, and the cause of an error. */

import { DomaindexError, DownloadError, InvalidResponseError, NetworkError } from '../../../client/src/client.ts'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'

/** Causes after which further calls are useless. */
const FINAL_CAUSES: readonly ExitCause[] = ['token', 'plan', 'quota', 'network']

const CAUSES_BY_STATUS: Readonly<Record<number, ExitCause>> = {
  400: 'usage',
  401: 'token',
  403: 'plan',
  404: 'noData',
  413: 'usage',
  429: 'quota',
}

export const EXIT_CODES = {
  ok: [0, 'all queries are answered completely'],
  failed: [1, 'a fault of this machine, such as a store that cannot be read'],
  usage: [2, 'wrong usage, or a query that is neither a domain nor an address'],
  noData: [3, 'there is no data'],
  token: [4, 'the token is missing or invalid'],
  plan: [5, 'the plan of the account does not include it'],
  quota: [6, 'the daily quota is spent'],
  network: [7, 'the server cannot be reached, or fails'],
  partial: [8, 'some queries failed, or more rows follow than were asked for'],
} as const

export type ExitCause = keyof typeof EXIT_CODES

/** The end of the help of every client command. */
export const EXIT_CODES_HELP = [
  'Exit codes:',
  ...Object.values(EXIT_CODES).map(([code, meaning]) => `  ${code}  ${meaning}`),
].join('\n')

/** An error that ends a client command with the exit code of its cause. */
export class ClientFault extends CommandFault {
  override name = 'ClientFault'
  readonly exitCode: number

  constructor(message: string, cause: ExitCause) {
    super(message)
    this.exitCode = EXIT_CODES[cause][0]
  }
}

/** Finds the cause of an error of the client library, which decides on the exit code. */
export function isFinal(cause: ExitCause): boolean {
  return FINAL_CAUSES.includes(cause)
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
