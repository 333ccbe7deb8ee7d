/** The exit codes of the client commands: one for each cause. */

import { CommandFault } from '../../config/command-fault.ts'

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
