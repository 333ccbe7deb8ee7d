/** GET /pdns/query/QUERY: passive DNS of a name or an address, for clients of the Common Output Format. */

import { CLOCK_INDEX } from '../../apply/stored-numbers.ts'
import { cofLine, cofLines, type RecordTimeline, recordSpans } from '../../export/cof.ts'
import type { FactsReader, NeighbourRow } from '../../store/port/store.ts'
import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { addressFamily, type IpAddress, parseQueryAddress } from '../../values/ip-address.ts'
import { type AnyRecord, RECORD_TYPES, type RecordType } from '../../values/records/dns-record.ts'
import { readLimitParameter, readNameParameter, readQueryParameter } from '../http/parameters.ts'
import { NDJSON_TYPE } from '../http/request.ts'
import { textOfBody } from '../http/write-parts.ts'
import { authorizeHistory, maxStatesOf } from './dnshistory.ts'
import type { Endpoint, EndpointCall, EndpointResult } from './endpoint.ts'
import { reverseip } from './reverseip.ts'
import { Type } from './schema.ts'

/** Names whose timelines are read at once. */
const NAMES_PER_READ = 100
/** The newest interruptions of a type that a response considers. Times before them are left out. */
const MAX_INTERRUPTIONS = 1_000
/** The newest states of a name among which a response looks for the start of its time on an address. */
const MAX_STATES_ON_ADDRESS = 1_000

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
  const timelines = await readTimelines(facts, name, RECORD_TYPES, limit)
  const lines = timelines.flatMap(({ type, timeline }) => cofLines(name, type, timeline))
  const truncated = timelines.filter(({ more }) => more).map(({ type }) => type)
  const headers = truncated.length === 0 ? [] : ['Truncated-Types', truncated.join(', ')]
  return { body: linesBody(lines), type: NDJSON_TYPE, headers, lastObserved: await facts.clocks(name) }
}

/** `more`: there are older states, or older times before an interruption. */
type TypeTimeline = { type: RecordType; timeline: RecordTimeline; more: boolean }

/**
 * The newest states of types, with the interruptions between them. The reads are in an order in which a write between
 * them makes a time shorter, never longer: a clock before its states, and states before their interruptions.
 */
async function readTimelines(
  facts: FactsReader,
  name: DomainName,
  types: readonly RecordType[],
  limit: number,
): Promise<TypeTimeline[]> {
  const [clocks] = await facts.partClocks([name])
  const found = await facts.history(name, types, null, limit)
  return Promise.all(
    types.map(async (type) => {
      const { states, more } = found[type]
      const interruptions = states.length === 0 ? [] : await facts.interruptions(name, type, null, MAX_INTERRUPTIONS)
      const isCut = interruptions.length === MAX_INTERRUPTIONS
      const from = isCut ? interruptions.at(-1)!.seen_again : 0
      const known = states.map(({ first_seen, last_confirmed, records }) => ({
        first_seen: Math.max(first_seen, from),
        last_seen: last_confirmed ?? Math.max(first_seen, clocks![CLOCK_INDEX[type]]!),
        records: JSON.parse(records) as AnyRecord[],
      }))
      const timeline = { states: known.filter(({ last_seen }) => last_seen >= from), interruptions }
      return { type, timeline, more: more || isCut }
    }),
  )
}

/** The domains on an address now: the rows and the cursor of `/reverseip`. */
async function handleAddress(call: EndpointCall, address: IpAddress): Promise<EndpointResult> {
  const { body, release } = await reverseip.handle!(call)
  const { meta, result } = JSON.parse(textOfBody(body)) as { meta: { next: string | null }; result: NeighbourRow[] }
  release?.()
  const type = addressFamily(address) === 4 ? 'A' : 'AAAA'
  const lines: string[] = []
  for (let at = 0; at < result.length; at += NAMES_PER_READ) {
    const targets = result.slice(at, at + NAMES_PER_READ).map(({ target }) => target)
    lines.push(...(await Promise.all(targets.map((target) => presentLine(call.facts, target, type, address)))).flat())
    await yieldToEventLoop()
  }
  const headers = meta.next === null ? [] : ['Next-Cursor', meta.next]
  return { body: linesBody(lines), type: NDJSON_TYPE, headers, lastObserved: null }
}

/** The newest uninterrupted time of a name on an address; none if the name has just left it. */
async function presentLine(
  facts: FactsReader,
  name: DomainName,
  type: 'A' | 'AAAA',
  address: IpAddress,
): Promise<string[]> {
  const [{ timeline }] = (await readTimelines(facts, name, [type], MAX_STATES_ON_ADDRESS)) as [TypeTimeline]
  const [newest] = recordSpans(type, timeline)
    .filter(({ rdata }) => rdata === address)
    .sort((a, b) => b.last - a.last)
  return newest ? [cofLine(name, type, address, newest.first, newest.last)] : []
}

function linesBody(lines: readonly string[]): string[] {
  return [lines.map((line) => `${line}\n`).join('')]
}
