/** GET /pdns/query/QUERY: passive DNS of a name or an address, for clients of the Common Output Format. */

import { CLOCK_INDEX } from '../../apply/stored-numbers.ts'
import { cofLine, cofLines } from '../../export/cof.ts'
import type { NeighbourRow } from '../../store/port/store.ts'
import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import { addressFamily, type IpAddress, parseQueryAddress } from '../../values/ip-address.ts'
import { type AnyRecord, RECORD_TYPES } from '../../values/records/dns-record.ts'
import { parseFormattedInstant } from '../../values/time.ts'
import { authorizeHistory, maxStatesOf } from '../endpoints/dnshistory.ts'
import type { Endpoint, EndpointCall, EndpointResult } from '../endpoints/endpoint.ts'
import { Type } from '../endpoints/json-schema.ts'
import { readLimitParameter, readNameParameter, readQueryParameter } from '../endpoints/parameters.ts'
import { reverseip } from '../endpoints/reverseip.ts'
import { NDJSON_TYPE } from '../formats/negotiation.ts'
import { textOfBody } from '../http/write-parts.ts'

/** Names whose clocks are read at once. */
const NAMES_PER_READ = 500

export const pdns: Endpoint = {
  name: 'pdns',
  summary: 'Passive DNS of a name or an address',
  description:
    'Lines of the passive DNS Common Output Format: one for each record and uninterrupted time in which it was seen. A ' +
    'name has the plan and the ceilings of `/dnshistory`, an address those of `/reverseip`. It is charged as one call.',
  envelope: 'top',
  parameters: Type.Object({
    query: Type.String({ description: 'A domain, an IPv4 or an IPv6 address.', examples: ['example.com'] }),
  }),
  response: null,
  file: null,
  errors: ['plan_required', 'domain_format', 'cursor_invalid', 'cursor_expired', 'cursor_mismatch', 'no_data'],
  authorize(caller, parameters) {
    if (parseQueryAddress(readQueryParameter(parameters)) === null) authorizeHistory(caller)
  },
  handle(call) {
    const address = parseQueryAddress(readQueryParameter(call.parameters))
    return address === null ? handleName(call) : handleAddress(call, address)
  },
}

/** The history of all types: at most as many states of each as the plan includes. */
async function handleName({ parameters, caller, facts }: EndpointCall): Promise<EndpointResult> {
  const name = readNameParameter(parameters)
  const maxStates = maxStatesOf(caller)
  const limit = readLimitParameter(parameters, maxStates, maxStates)
  const [clocks] = await facts.partClocks([name]) // first: a state that is newer than its clock is still right
  const found = await facts.history(name, RECORD_TYPES, null, limit)
  const lines = RECORD_TYPES.flatMap((type) => {
    const states = found[type].states.map((state) => ({ ...state, records: JSON.parse(state.records) as AnyRecord[] }))
    return cofLines(name, type, states, clocks![CLOCK_INDEX[type]]!)
  })
  const truncated = RECORD_TYPES.filter((type) => found[type].more)
  const headers = truncated.length === 0 ? [] : ['Truncated-Types', truncated.join(', ')]
  return { body: linesBody(lines), type: NDJSON_TYPE, headers, lastObserved: await facts.clocks(name) }
}

/** The domains on an address now: the rows and the cursor of `/reverseip`. */
async function handleAddress(call: EndpointCall, address: IpAddress): Promise<EndpointResult> {
  const { body, release } = await reverseip.handle!(call)
  const { meta, result } = JSON.parse(textOfBody(body)) as { meta: { next: string | null }; result: NeighbourRow[] }
  release?.()
  const type = addressFamily(address) === 4 ? 'A' : 'AAAA'
  const lines: string[] = []
  for (let at = 0; at < result.length; at += NAMES_PER_READ) {
    const rows = result.slice(at, at + NAMES_PER_READ)
    const clocks = await call.facts.partClocks(rows.map(({ target }) => target))
    for (const [index, { target, since }] of rows.entries()) {
      const first = parseFormattedInstant(since)!
      lines.push(cofLine(target, type, address, first, Math.max(first, clocks[index]![CLOCK_INDEX[type]]!)))
    }
    await yieldToEventLoop()
  }
  const headers = meta.next === null ? [] : ['Next-Cursor', meta.next]
  return { body: linesBody(lines), type: NDJSON_TYPE, headers, lastObserved: null }
}

function linesBody(lines: readonly string[]): string[] {
  return [lines.map((line) => `${line}\n`).join('')]
}
