/** /dnshistory: how the DNS records of a domain changed. */

import Type, { type TSchema } from 'typebox'
import type { History, HistoryState } from '../../store/store.ts'
import type { Name } from '../../words/name.ts'
import { RECORD_TYPES, type RecordType } from '../../words/record.ts'
import { formatInstant, type Instant, parseSeen } from '../../words/time.ts'
import type { Call, Endpoint } from '../endpoint.ts'
import { Refusal } from '../errors.ts'
import type { Caller } from '../gate.ts'
import { nextOf, placeOf, readNext } from '../paging.ts'
import { type Parameters, readLimit, readName, readText } from '../parameters.ts'
import { Address, Applied, Ceiling, Domain, DomainQuery, exactly, limitOf, oneOf, Rcode, Seen } from '../schema.ts'

/** States a record type where no limit was sent. */
const STANDARD_LIMIT = 10
/** Totals stop here. */
const COUNTED = 1_000

const Host = Type.String({ description: 'A host name, lower-case, without a trailing dot.' })
const Number32 = Type.Integer({ minimum: 0 })

const RECORDS: Record<RecordType, TSchema> = {
  A: exactly({ ipv4_address: Address }),
  AAAA: exactly({ ipv6_address: Address }),
  MX: exactly({ priority: Number32, mail_server: Host }),
  TXT: exactly({ text: Type.String({ description: 'The parts joined.' }), parts: Type.Array(Type.String()) }),
  NS: exactly({ nameserver: Host }),
  SOA: exactly({
    primary_nameserver: Host,
    admin_email: Type.String(),
    serial: Number32,
    refresh_seconds: Number32,
    retry_seconds: Number32,
    expire_seconds: Number32,
    minimum_ttl_seconds: Type.Optional(Number32),
  }),
  CNAME: exactly({ target: Host }),
}

/** An object with some of the seven types as keys. */
function byType(value: (type: RecordType) => TSchema, description: string): TSchema {
  const properties = Object.fromEntries(RECORD_TYPES.map((type) => [type, Type.Optional(value(type))]))
  return Type.Object(properties, { additionalProperties: false, minProperties: 1, description })
}

const TypeList = Type.Array(oneOf(RECORD_TYPES, 'A record type.'), { minItems: 1 })

export const dnshistory: Endpoint = {
  name: 'dnshistory',
  summary: 'Changes of the DNS records of a domain',
  description:
    'The states of each record type, newest first. Without `type` all seven at once and without paging. With it, repeat ' +
    'the call with `next` set to the last `meta.next` until that is absent.',
  envelope: 'top',
  parameters: Type.Object({
    query: DomainQuery,
    type: Type.Optional(oneOf(RECORD_TYPES, 'The record type; letter case is ignored.')),
    limit: Type.Optional(limitOf(STANDARD_LIMIT, 'States a record type: Basic 10, Premium 100.')),
    next: Type.Optional(
      Type.String({ description: 'The `meta.next` of the page before, or with `type` a bare `first_seen` value.' }),
    ),
  }),
  response: exactly({
    meta: exactly({
      query: Domain,
      rcode: Rcode,
      count: Type.Integer({ minimum: 0, description: 'How many states this answer has.' }),
      max_limit: Ceiling,
      limit: Applied,
      totals: byType(() => Type.Integer({ minimum: 0, maximum: COUNTED }), 'How many states each record type has.'),
      totals_capped: Type.Optional({ ...TypeList, description: 'The types of which the total means "at least".' }),
      truncated: Type.Optional({ ...TypeList, description: 'The types with older states beyond this page.' }),
      next: Type.Optional(
        Type.String({ description: 'The cursor of the following page, where one record type has one.' }),
      ),
    }),
    result: byType((type) => Type.Array(exactly({ first_seen: Seen, records: Type.Array(RECORDS[type]) })), 'States.'),
  }),
  file: null,
  errors: [
    'plan_required',
    'query_missing',
    'domain_format',
    'type_invalid',
    'cursor_invalid',
    'cursor_needs_type',
    'cursor_expired',
    'cursor_mismatch',
  ],
  admit(caller) {
    ceilingOf(caller)
  },
  async answer(call) {
    const { parameters, caller, facts } = call
    const query = readName(parameters)
    const asked = readType(parameters)
    const ceiling = ceilingOf(caller)
    const limit = readLimit(parameters, STANDARD_LIMIT, ceiling)
    const { type, before } = readPlace(call, query, asked)
    const types = type === null ? RECORD_TYPES : [type]
    const found = await facts.history(query, types, before, limit)
    const next = type === null ? null : nextState(found[type])
    const cursor = next === null ? null : nextOf(call, { endpoint: 'dnshistory', query, type }, next)
    const head = `"query":"${query}","rcode":200,"count":${countStates(found)},"max_limit":${ceiling},"limit":${limit}`
    return { body: [bodyOf(head, found, cursor)], observed: await facts.clocks(query) }
  },
}

type Found = Partial<Record<RecordType, History>>

/** The most states a record type that the caller's plan gives; throws `plan_required` where it gives none. */
function ceilingOf({ limits }: Caller): number {
  if (limits.states === null) throw new Refusal('plan_required')
  return limits.states
}

function readType(parameters: Parameters): RecordType | null {
  const text = readText(parameters, 'type', 'type_invalid')?.toUpperCase()
  if (text === undefined) return null
  const type = RECORD_TYPES.find((each) => each === text)
  if (type === undefined) throw new Refusal('type_invalid')
  return type
}

/** The record type of the page and the state that its states must be older than; null for all types, and for the newest. */
function readPlace(
  call: Call,
  query: Name,
  asked: RecordType | null,
): { type: RecordType | null; before: Instant | null } {
  const next = readNext(call)
  if (next === null) return { type: asked, before: null }
  const seen = parseSeen(next)
  if (seen === null) {
    const { position, type } = placeOf(call, next, { endpoint: 'dnshistory', query, type: asked })
    return { type: type as RecordType, before: Number(position) }
  }
  if (asked === null) throw new Refusal('cursor_needs_type')
  return { type: asked, before: seen }
}

/** The position of the page after this one: the last state's instant; null where none is older. */
function nextState({ states, more }: History): string | null {
  const last = states.at(-1)
  return more && last !== undefined ? String(last.first_seen) : null
}

function countStates(found: Found): number {
  return Object.values(found).reduce((sum, { states }) => sum + states.length, 0)
}

/** The body from the beginning of `meta`, what was found and the JSON of the cursor. */
function bodyOf(head: string, found: Found, cursor: string | null): string {
  const entries = Object.entries(found)
  const totals = entries.map(([type, { total }]) => `"${type}":${Math.min(total, COUNTED)}`).join()
  const capped = typeList('totals_capped', entries, ({ total }) => total > COUNTED)
  const truncated = typeList('truncated', entries, ({ more }) => more)
  const next = cursor === null ? '' : `,"next":${cursor}`
  const result = entries.map(([type, { states }]) => `"${type}":[${states.map(stateText).join()}]`).join()
  return `{"meta":{${head},"totals":{${totals}}${capped}${truncated}${next}},"result":{${result}}}`
}

/** A key of `meta` with the types that a test holds for; nothing where it holds for none. */
function typeList(key: string, entries: readonly [string, History][], holds: (history: History) => boolean): string {
  const types = entries.filter(([, history]) => holds(history)).map(([type]) => type)
  return types.length === 0 ? '' : `,"${key}":${JSON.stringify(types)}`
}

function stateText({ first_seen, records }: HistoryState): string {
  return `{"first_seen":"${formatInstant(first_seen)}","records":${records}}`
}
