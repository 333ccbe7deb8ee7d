/** /dnshistory: the history of the DNS records of a domain. */

import type { History, HistoryState } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { RECORD_TYPES, type RecordType } from '../../values/records/dns-record.ts'
import { formatInstant, type Instant, parseFormattedInstant } from '../../values/time.ts'
import type { Caller } from '../auth/authenticator.ts'
import { ApiError } from '../http/errors.ts'
import { type Parameters, readLimitParameter, readNameParameter, readTextParameter } from '../http/parameters.ts'
import type { Endpoint, EndpointCall } from './endpoint.ts'
import { DNSHISTORY_EXAMPLE } from './examples.ts'
import { nextCursor, readCursorPosition, readNextParameter } from './paging.ts'
import {
  AddressSchema,
  AppliedLimitSchema,
  DomainQuerySchema,
  DomainSchema,
  enumString,
  exactObject,
  InstantSchema,
  type JsonSchema,
  limitParameter,
  MaxLimitSchema,
  planLimitsText,
  RcodeSchema,
  Type,
} from './schema.ts'

/** The default number of states per record type. */
const DEFAULT_STATE_LIMIT = 10
/** The maximum value of a total. The store counts one state further, so that a higher total can be told apart. */
const MAX_TOTAL = 1_000

const HostSchema = Type.String({ description: 'A host name, lower-case, without a trailing dot.' })
const Uint32Schema = Type.Integer({ minimum: 0 })

export const RECORD_SCHEMAS: Record<RecordType, JsonSchema> = {
  A: exactObject({ ipv4_address: AddressSchema }),
  AAAA: exactObject({ ipv6_address: AddressSchema }),
  MX: exactObject({ priority: Uint32Schema, mail_server: HostSchema }),
  TXT: exactObject({ text: Type.String({ description: 'The parts joined.' }), parts: Type.Array(Type.String()) }),
  NS: exactObject({ nameserver: HostSchema }),
  SOA: exactObject({
    primary_nameserver: HostSchema,
    admin_email: Type.String(),
    serial: Uint32Schema,
    refresh_seconds: Uint32Schema,
    retry_seconds: Uint32Schema,
    expire_seconds: Uint32Schema,
    minimum_ttl_seconds: Type.Optional(Uint32Schema),
  }),
  CNAME: exactObject({ target: HostSchema }),
}

/** The schema of an object with some of the seven types as keys. */
function schemaByType(value: (type: RecordType) => JsonSchema, description: string): JsonSchema {
  const properties = Object.fromEntries(RECORD_TYPES.map((type) => [type, Type.Optional(value(type))]))
  return Type.Object(properties, { additionalProperties: false, minProperties: 1, description })
}

const RecordTypeList = Type.Array(enumString(RECORD_TYPES, 'A record type.'), { minItems: 1 })

export const dnshistory: Endpoint = {
  name: 'dnshistory',
  summary: 'Changes of the DNS records of a domain',
  description:
    'The states of each record type, newest first. Without `type`, all seven at once and without paging. With `type`, ' +
    'repeat the call with `next` set to the last `meta.next` until that is absent.',
  envelope: 'top',
  parameters: Type.Object({
    query: DomainQuerySchema,
    type: Type.Optional(enumString(RECORD_TYPES, 'The record type; letter case is ignored.')),
    limit: Type.Optional(
      limitParameter(DEFAULT_STATE_LIMIT, `States per record type: ${planLimitsText('historyStates')}.`),
    ),
    next: Type.Optional(
      Type.String({ description: 'The `meta.next` of the previous page, or with `type` a bare `first_seen` value.' }),
    ),
  }),
  response: exactObject({
    meta: exactObject({
      query: DomainSchema,
      rcode: RcodeSchema,
      count: Type.Integer({ minimum: 0, description: 'The number of states in this response.' }),
      max_limit: MaxLimitSchema,
      limit: AppliedLimitSchema,
      totals: schemaByType(
        () => Type.Integer({ minimum: 0, maximum: MAX_TOTAL }),
        'The number of states of each record type.',
      ),
      totals_capped: Type.Optional({
        ...RecordTypeList,
        description: 'The types whose total means "at least".',
      }),
      truncated: Type.Optional({ ...RecordTypeList, description: 'The types with older states beyond this page.' }),
      next: Type.Optional(Type.String({ description: 'The cursor of the next page, if one record type has one.' })),
    }),
    result: schemaByType(
      (type) => Type.Array(exactObject({ first_seen: InstantSchema, records: Type.Array(RECORD_SCHEMAS[type]) })),
      'States.',
    ),
  }),
  example: DNSHISTORY_EXAMPLE,
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
  authorize: authorizeHistory,
  async handle(call) {
    const { parameters, caller, facts } = call
    const query = readNameParameter(parameters)
    const requestedType = readRecordType(parameters)
    const maxLimit = maxStatesOf(caller)
    const limit = readLimitParameter(parameters, DEFAULT_STATE_LIMIT, maxLimit)
    const { type, before } = readHistoryPosition(call, query, requestedType)
    const types = type === null ? RECORD_TYPES : [type]
    const { byType, lastObserved } = await facts.history(query, types, before, limit)
    const next = type === null ? null : nextHistoryPosition(byType[type])
    const cursor = next === null ? null : nextCursor(call, { endpoint: 'dnshistory', query, type }, next)
    const { count, meta, result } = historyParts(byType)
    const head = `"query":"${query}","rcode":200,"count":${count},"max_limit":${maxLimit},"limit":${limit}`
    const cursorMember = cursor === null ? '' : `,"next":${cursor}`
    return { body: [`{"meta":{${head},${meta}${cursorMember}},"result":{${result}}}`], lastObserved }
  },
}

type HistoryByType = Partial<Record<RecordType, History>>

/** The maximum number of states per record type in the plan of the caller. Throws `plan_required` if there are none. */
export function maxStatesOf({ limits }: Caller): number {
  if (limits.historyStates === null) throw new ApiError('plan_required')
  return limits.historyStates
}

/** Throws `plan_required` if the plan of the caller does not include the endpoint. */
export function authorizeHistory(caller: Caller): void {
  maxStatesOf(caller)
}

function readRecordType(parameters: Parameters): RecordType | null {
  const text = readTextParameter(parameters, 'type', 'type_invalid')?.toUpperCase()
  if (text === undefined) return null
  const type = RECORD_TYPES.find((each) => each === text)
  if (type === undefined) throw new ApiError('type_invalid')
  return type
}

/** The record type of the page (null for all) and the instant that its states must precede (null for the newest). */
function readHistoryPosition(
  call: EndpointCall,
  query: DomainName,
  requestedType: RecordType | null,
): { type: RecordType | null; before: Instant | null } {
  const next = readNextParameter(call)
  if (next === null) return { type: requestedType, before: null }
  const firstSeen = parseFormattedInstant(next)
  if (firstSeen === null) {
    const { position, type } = readCursorPosition(call, next, { endpoint: 'dnshistory', query, type: requestedType })
    return { type: type as RecordType, before: Number(position) }
  }
  if (requestedType === null) throw new ApiError('cursor_needs_type')
  return { type: requestedType, before: firstSeen }
}

/** The position of the next page: the instant of the last state; null if there are no older states. */
function nextHistoryPosition({ states, more }: History): string | null {
  const last = states.at(-1)
  return more && last !== undefined ? String(last.first_seen) : null
}

/** What the body says about the types of a call. `meta`: the members after its start. */
type HistoryParts = { count: number; meta: string; result: string }

function historyParts(byType: HistoryByType): HistoryParts {
  let count = 0
  let totals = ''
  let result = ''
  const capped: string[] = []
  const truncated: string[] = []
  for (const type in byType) {
    const { states, total, more } = byType[type as RecordType]!
    const comma = totals === '' ? '' : ','
    count += states.length
    totals += `${comma}"${type}":${Math.min(total, MAX_TOTAL)}`
    result += `${comma}"${type}":${historyStatesJson(states)}`
    if (total > MAX_TOTAL) capped.push(type)
    if (more) truncated.push(type)
  }
  const meta = `"totals":{${totals}}${typeList('totals_capped', capped)}${typeList('truncated', truncated)}`
  return { count, meta, result }
}

/** A key of `meta` with types; nothing if there are none. */
function typeList(key: string, types: readonly string[]): string {
  return types.length === 0 ? '' : `,"${key}":${JSON.stringify(types)}`
}

function historyStatesJson(states: readonly HistoryState[]): string {
  let json = '['
  for (const { first_seen, records } of states)
    json += `${json === '[' ? '' : ','}{"first_seen":"${formatInstant(first_seen)}","records":${records}}`
  return `${json}]`
}
