/** Uses the installed client library in any runtime: with a server and a token as arguments, prints what it saw. */

import { DomaindexClient, DomaindexError, NetworkError } from '@domaindex/client'

export async function consume(server, token) {
  const client = new DomaindexClient({ server, token })
  const { result } = await client.lookup('target.example')
  const sources = []
  for await (const { target } of client.redirectRows('target.example', { limit: 2 })) sources.push(target)
  const states = []
  for await (const state of client.dnshistoryStates('target.example', { type: 'A', limit: 1 }))
    states.push(state.records[0].ipv4_address)
  const answers = []
  for await (const { error } of client.batch(sources.map((query) => ({ endpoint: 'lookup', query }))))
    answers.push(error)
  const { body, ...file } = await client.downloadDaily('2026-11-18')
  const unknown = await client.lookup('unknown.example').catch((error) => error)
  const stopped = await client.quota({ signal: AbortSignal.abort(new Error('stop')) }).catch(({ message }) => message)
  const dead = new DomaindexClient({ server: 'http://127.0.0.1:9', retries: 0 })
  const unreachable = await dead.quota().catch((error) => error)
  return {
    ip: result.ip,
    sources,
    states,
    answers,
    file: { ...file, bytes: (await new Response(body).arrayBuffer()).byteLength },
    unknown: unknown instanceof DomaindexError && { error: unknown.error, hasId: unknown.requestId !== null },
    stopped,
    unreachable: unreachable instanceof NetworkError,
  }
}

const [, , server, token] = globalThis.process?.argv ?? []
if (server !== undefined) consume(server, token).then((seen) => console.log(JSON.stringify(seen)))
