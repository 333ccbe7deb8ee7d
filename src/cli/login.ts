/** `domaindex login`: keeps the token of a server for the client commands. */

import type { Command } from 'commander'
import { UsageFault } from '../config/command-fault.ts'
import { loadSettings } from '../config/settings.ts'
import { EXIT_CODES_HELP } from './program/client-fault.ts'
import { printResult } from './program/print-result.ts'
import { readSecret } from './program/read-secret.ts'
import { toClientFault } from './query/error-cause.ts'
import { createClient, requestedServer } from './query/source.ts'
import { keepToken, serverKey, tokensPath } from './query/tokens.ts'

type LoginOptions = { server?: string; remove?: true; json?: true }

const LOGIN_HELP = `
The token comes from the terminal or from standard input, never from an argument, which other users can see. The
server checks it; that costs no call. It is kept for this server, in domaindex/tokens.json in $XDG_CONFIG_HOME or
~/.config, which only you can read.`

export function defineLogin(command: Command): void {
  command
    .option('--server <url>', 'the server; by default DOMAINDEX_SERVER')
    .option('--remove', 'remove the kept token of the server')
    .option('--json', 'print one JSON object: server, path')
    .addHelpText('after', `${LOGIN_HELP}\n\n${EXIT_CODES_HELP}`)
    .action(logIn)
}

async function logIn({ server, remove, json }: LoginOptions): Promise<void> {
  const address = requestedServer({ ...(server !== undefined && { server }) }, loadSettings())
  if (address === null) throw new UsageFault('name the server with --server or DOMAINDEX_SERVER')
  const result = { server: serverKey(address), path: tokensPath() }
  if (remove) {
    keepToken(address, null)
    return printResult(json, result, [`the token of ${result.server} is removed from ${result.path}`])
  }
  const token = (await readSecret('Token', false)).trim()
  try {
    await createClient(address, token).quota()
  } catch (error) {
    throw toClientFault(error)
  }
  keepToken(address, token)
  printResult(json, result, [`the token of ${result.server} is kept in ${result.path}`])
}
