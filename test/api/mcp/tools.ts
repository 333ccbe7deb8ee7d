/** Calls tools as a client of the protocol does. */

import assert from 'node:assert/strict'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'

/** The result of a tool that succeeds. The client has checked it against the output schema. */
export async function resultOf<Result>(client: Client, name: string, values: Record<string, unknown>): Promise<Result> {
  const called = await client.callTool({ name, arguments: values })
  assert.equal(called.isError, undefined, JSON.stringify(called.content))
  const [content] = called.content as { type: string; text: string }[]
  assert.deepEqual(JSON.parse(content!.text), called.structuredContent)
  return called.structuredContent as Result
}

/** The text of a tool that refuses. */
export async function refusalOf(client: Client, name: string, values: Record<string, unknown>): Promise<string> {
  const called = await client.callTool({ name, arguments: values })
  assert.equal(called.isError, true, JSON.stringify(called))
  return (called.content as { text: string }[])[0]!.text
}
