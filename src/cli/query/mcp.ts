/** `domaindex mcp`: the MCP server on standard input and output, over the local store or a server. */

import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { Command } from 'commander'
import { type DomaindexClient, DomaindexError, type NewWatch } from '../../../client/src/client.ts'
import { packageVersion } from '../../api/create-context.ts'
import { ERRORS } from '../../api/http/errors.ts'
import { createMcpServer } from '../../api/mcp/mcp-server.ts'
import type { SourceResponse, ToolSource } from '../../api/mcp/tool.ts'
import { parseDay } from '../../values/time.ts'
import { addServerOptions } from './query-command.ts'
import { openAnswerSource, type ServerOptions } from './source.ts'

const MCP_HELP = `
A program such as a chat client starts this command and sends messages of the Model Context Protocol
to its standard input. The tools answer from the local store without an account, or from a server.
The command ends when its standard input ends.

Exit codes: 0 it ended, 1 it failed, 2 wrong usage, 4 there is no token for the server.`

export function defineMcp(command: Command): void {
  addServerOptions(command).addHelpText('after', MCP_HELP).action(runMcp)
}

async function runMcp(options: ServerOptions): Promise<void> {
  const { client, close } = await openAnswerSource(options)
  try {
    const server = createMcpServer(clientSource(client), packageVersion())
    const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve))
    await server.connect(new StdioServerTransport())
    await ended
    await server.close()
  } finally {
    await close()
  }
}

type Ask = (client: DomaindexClient, query: string, parameters: Record<string, never>) => Promise<object>

/** The method of the client for each endpoint that the tools ask. */
const ASKS: Record<string, Ask> = {
  lookup: (client, query) => client.lookup(query),
  redirect: (client, query, parameters) => client.redirect(query, parameters),
  reverseip: (client, query, parameters) => client.reverseip(query, parameters),
  dnshistory: (client, query, parameters) => client.dnshistory(query, parameters),
  similar: (client, query, parameters) => client.similar(query, parameters),
  domain: (client, query, { at }) => (at === undefined ? client.domain(query) : client.domainAsOf(query, at)),
  webhistory: (client, query, parameters) => client.webhistory(query, parameters),
  certificate: (client, query, parameters) => client.certificate(query, parameters),
  certificatehistory: (client, query, parameters) => client.certificatehistory(query, parameters),
  namedcertificates: (client, query, parameters) => client.namedcertificates(query, parameters),
  redirecthistory: (client, query, parameters) => client.redirecthistory(query, parameters),
  search: (client, _query, { q, ...options }) => client.search(String(q), options),
  lookalikes: (client, _query, { of, ...options }) => client.lookalikes(String(of), options),
  watches: (client) => client.watches(),
  createWatch: (client, _query, parameters) => client.createWatch(parameters as unknown as NewWatch),
  muteWatch: (client, _query, { id, muted }) => client.muteWatch(Number(id), Boolean(muted)),
  removeWatch: (client, _query, { id }) => client.removeWatch(Number(id)).then(() => ({})),
  preview: (client, _query, parameters) => client.previewWatch(parameters as unknown as NewWatch),
  events: (client, _query, { after, limit }) => client.events({ after: Number(after ?? 0), limit }),
  ip: (client, query, parameters) =>
    query.includes('/') || Object.keys(parameters).length > 0
      ? client.addressTimes(query, parameters)
      : client.ip(query),
}

function clientSource(client: DomaindexClient): ToolSource {
  return {
    async ask(endpoint, { query, ...parameters }) {
      try {
        const body = await ASKS[endpoint]!(client, String(query), parameters as Record<string, never>)
        return { status: 200, body: body as Record<string, unknown> }
      } catch (error) {
        return errorResponseOf(error)
      }
    },
    async openDaily(date) {
      if (parseDay(date) === null) return { status: 400, body: { error: 'date_format', msg: DATE_FORMAT_MESSAGE } }
      try {
        return (await client.downloadDaily(date)).body as unknown as AsyncIterable<Uint8Array>
      } catch (error) {
        return errorResponseOf(error)
      }
    },
  }
}

const [, DATE_FORMAT_MESSAGE] = ERRORS.date_format

/** An error of the server or of the network, as the body of a response. */
function errorResponseOf(error: unknown): SourceResponse {
  if (error instanceof DomaindexError) return { status: error.status, body: { error: error.error, msg: error.message } }
  return { status: 500, body: { error: 'unavailable', msg: (error as Error).message } }
}
