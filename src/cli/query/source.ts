/** Opens what answers the client commands: a server, or the local store. */

import { createHash } from 'node:crypto'
import { DomaindexClient, type Sha256Hasher } from '../../../client/src/client.ts'
import { isServerUrl } from '../../config/client.ts'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import { loadSettings, type Settings } from '../../config/settings.ts'
import { ClientFault } from '../program/client-fault.ts'
import { loadExistingStoreSettings } from '../program/existing-store.ts'
import { readKeptToken, readTokenFile } from './tokens.ts'

/** That of Node is faster than that of the library, which runs everywhere. */
const sha256 = (): Sha256Hasher => createHash('sha256')

const SERVER_ADVICE = 'to ask a server, name it with --server or DOMAINDEX_SERVER'

/** `retryTime`: seconds in which a call to a server is repeated. */
export type ServerOptions = { server?: string; tokenFile?: string; retryTime?: number }

/** `isLocal`: answers cost nothing. `fault`: why the local store failed; null if it did not. */
export type AnswerSource = {
  client: DomaindexClient
  isLocal: boolean
  fault: () => unknown
  close: () => Promise<void>
}

/** Opens the server of `--server` or DOMAINDEX_SERVER, otherwise the local store. */
export async function openAnswerSource(options: ServerOptions): Promise<AnswerSource> {
  const settings = loadSettings()
  const server = requestedServer(options, settings)
  if (server === null) return openLocalStore(options, settings)
  const token = tokenFor(server, options, settings)
  if (token === null)
    throw new ClientFault(
      `there is no token for ${server}: run domaindex login --server ${server}, set DOMAINDEX_TOKEN, or name a --token-file`,
      'token',
    )
  return {
    client: createClient(server, token, options.retryTime),
    isLocal: false,
    fault: () => null,
    close: async () => {},
  }
}

/** The client of a server. Throws ClientFault if the token cannot be one. */
export function createClient(server: string, token: string, maxRetrySeconds?: number): DomaindexClient {
  try {
    return new DomaindexClient({ server, token, sha256, userAgent: 'domaindex-cli', maxRetrySeconds })
  } catch (error) {
    throw error instanceof TypeError ? new ClientFault(error.message, 'token') : error
  }
}

/** The address of the server; null for the local store. Throws UsageFault if it is not a URL. */
export function requestedServer({ server }: ServerOptions, { clientServer }: Settings): string | null {
  const found = server ?? clientServer
  if (found !== null && !isServerUrl(found))
    throw new UsageFault('--server must be an http or https URL without user and query, such as https://example.com')
  return found
}

function tokenFor(server: string, { tokenFile }: ServerOptions, { clientToken }: Settings): string | null {
  if (tokenFile !== undefined) return readTokenFile(tokenFile)
  return clientToken ?? readKeptToken(server)
}

async function openLocalStore({ tokenFile }: ServerOptions, settings: Settings): Promise<AnswerSource> {
  if (tokenFile !== undefined) throw new UsageFault('--token-file needs --server or DOMAINDEX_SERVER')
  await loadExistingStoreSettings(settings).catch((error) => {
    throw error instanceof CommandFault ? new CommandFault(`${error.message}; ${SERVER_ADVICE}`) : error
  })
  const { LOCAL_SERVER, openLocalSource } = await import('./local-fetch.ts')
  const local = await openLocalSource(settings)
  const client = new DomaindexClient({ server: LOCAL_SERVER, fetch: local.fetch, sha256, retries: 0 })
  return { client, isLocal: true, fault: local.fault, close: local.close }
}
