/**
 * Generates probes with fast-check, and writes them as lines of an observation file and in the formats of the tools.
 */

import fc from 'fast-check'
import { RECORD_TYPES, type RecordType } from '../../../src/values/records/dns-record.ts'
import { encodeTxtPart } from '../../../src/values/records/txt-part.ts'

type Mail = { priority: number; mail_server: string }
/** TXT records are lists of parts in bytes. Hosts are lists of labels in bytes. */
type Host = Uint8Array[]
type Sets = Partial<{
  A: string[]
  AAAA: string[]
  MX: { priority: number; host: Host }[]
  TXT: Uint8Array[][]
  NS: Host[]
  SOA: { primary: Host; numbers: number[] }[]
  CNAME: Host[]
}>
/** `at`: Unix seconds. `lasts`: for how many seconds a passive sensor saw the records. */
export type Visit = { name: string; at: number; lasts: number; status: 'ok' | 'nxdomain' | 'servfail'; sets: Sets }
/** The probes of one name without the name. `gap`: seconds since the previous probe. */
export type History = (Omit<Visit, 'name' | 'at'> & { gap: number })[]
/** Writes a probe in the format of a tool: one or more lines in any order. */
export type Writer = (visit: Visit) => string[]

const GAP = 60
const TTL = 300
const SOA_KEYS = ['serial', 'refresh_seconds', 'retry_seconds', 'expire_seconds', 'minimum_ttl_seconds']
const ZDNS_SOA_KEYS = ['serial', 'refresh', 'retry', 'expire', 'min_ttl']

const label = fc.oneof(
  fc.stringMatching(/^[a-z0-9-]{1,9}$/).map((text) => Buffer.from(text)),
  fc
    .uint8Array({ minLength: 1, maxLength: 4 })
    .map((bytes) => bytes.map((byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte === 34 ? 35 : byte))),
)
const host = fc.array(label, { minLength: 1, maxLength: 3 })
const some = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { maxLength: 3 })
const number = fc.nat({ max: 4_294_967_295 })
/** massdns does not escape quotes, so a quote cannot be distinguished from the end of a part. */
const part = fc.uint8Array({ maxLength: 40 }).map((bytes) => bytes.map((byte) => (byte === 34 ? 35 : byte)))

const sets: fc.Arbitrary<Sets> = fc
  .record(
    {
      A: some(fc.ipV4()),
      AAAA: some(fc.ipV6()),
      MX: some(fc.record({ priority: fc.nat({ max: 65_535 }), host })),
      TXT: some(fc.array(part, { minLength: 1, maxLength: 3 })),
      NS: some(host),
      SOA: fc.array(fc.record({ primary: host, numbers: fc.array(number, { minLength: 5, maxLength: 5 }) }), {
        maxLength: 1,
      }),
      CNAME: fc.array(host, { maxLength: 1 }),
    },
    { requiredKeys: [] },
  )
  .filter((each) => Object.keys(each).length > 0)

/** The probes of one name in order, at least a minute apart. */
export const histories: fc.Arbitrary<History> = fc.array(
  fc.record({
    gap: fc.integer({ min: GAP, max: 1_000_000 }),
    lasts: fc.nat({ max: GAP - 1 }),
    status: fc.constantFrom('ok' as const, 'ok' as const, 'nxdomain' as const, 'servfail' as const),
    sets,
  }),
  { minLength: 1, maxLength: 5 },
)

function typesOf(given: Sets): RecordType[] {
  return RECORD_TYPES.filter((type) => given[type] !== undefined)
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** A probe in the observation format. */
export function observationLine({ name, at, status, sets }: Visit): string {
  const { TXT, MX, NS, SOA, CNAME, ...addresses } = sets
  const plain = (labels: Host): string => hostText(labels, decimal)
  return JSON.stringify({
    domain: name,
    observed_at: timeOf(at),
    dns: {
      status,
      ...addresses,
      MX: MX?.map(({ priority, host }): Mail => ({ priority, mail_server: plain(host) })),
      TXT: TXT?.map((parts) => parts.map(encodeTxtPart)),
      NS: NS?.map(plain),
      CNAME: CNAME?.map(plain),
      SOA: SOA?.map(({ primary, numbers }) => ({
        primary_nameserver: plain(primary),
        admin_email: 'host.master@example.net',
        ...Object.fromEntries(SOA_KEYS.map((key, index) => [key, numbers[index]])),
      })),
    },
  })
}

/** zdns in its current layout, with all modules in one line. */
export const zdnsLines: Writer = ({ name, at, status, sets }) => {
  const result = (word: string, answers: object[]) => ({
    status: word,
    timestamp: timeOf(at),
    data: { answers, authorities: [], flags: { recursion_available: true } },
  })
  if (status === 'nxdomain') return [JSON.stringify({ name, results: { AAAA: result('NXDOMAIN', []) } })]
  if (status === 'servfail')
    return [JSON.stringify({ name, results: { A: result('SERVFAIL', []), AAAA: result('TIMEOUT', []) } })]
  return typesOf(sets).map((type) => {
    const answers = zdnsAnswers(type, sets).map((answer) => ({
      type,
      class: 'IN',
      ttl: TTL,
      name: `${name}.`,
      ...answer,
    }))
    return JSON.stringify({ name, results: { [type]: result('NOERROR', answers) } })
  })
}

function zdnsAnswers(type: RecordType, { A, AAAA, MX, TXT, NS, SOA, CNAME }: Sets): object[] {
  const text = (labels: Host): string => `${hostText(labels, decimal)}.`
  if (type === 'MX') return MX!.map(({ priority, host }) => ({ preference: priority, answer: text(host) }))
  if (type === 'TXT')
    return TXT!.map((parts) => ({ answer: parts.map((bytes) => partText(bytes, decimal)).join('\n') }))
  if (type === 'SOA')
    return SOA!.map(({ primary, numbers }) => ({
      ns: text(primary),
      mbox: 'host\\.master.example.net',
      ...Object.fromEntries(ZDNS_SOA_KEYS.map((key, index) => [key, numbers[index]])),
    }))
  const plain = { A, AAAA, NS: NS?.map(text), CNAME: CNAME?.map(text) }[type] ?? []
  return plain.map((answer) => ({ answer }))
}

/** The output of massdns -o J, which joins the parts of a text. */
export const massdnsJsonLines: Writer = (visit) =>
  questions(visit).map(({ type, status, data }) =>
    JSON.stringify({
      name: `${visit.name}.`,
      type,
      class: 'IN',
      status,
      rx_ts: visit.at * 1e9,
      data: {
        answers: data.map((each) => ({
          ttl: TTL,
          type,
          class: 'IN',
          name: `${visit.name}.`,
          data: type === 'TXT' ? each.slice(1, -1) : each,
        })),
      },
      flags: ['rd', 'ra'],
    }),
  )

/** The output of massdns -o F. */
export const massdnsFullLines: Writer = (visit) =>
  questions(visit).map(({ type, status, data }) =>
    [
      ';; Server: 192.0.2.53:53',
      `;; Unix time: ${visit.at}`,
      `;; ->>HEADER<<- opcode: QUERY, status: ${status}, id: 1`,
      ';; flags: qr rd ra ; QUERY: 1, ANSWER: 1, AUTHORITY: 0, ADDITIONAL: 0',
      '',
      ';; QUESTION SECTION:',
      `${visit.name}. IN ${type}`,
      '',
      ';; ANSWER SECTION:',
      ...data.map((each) => `${visit.name}. ${TTL} IN ${type} ${each}`),
      '',
      '',
    ].join('\n'),
  )

/** The output of massdns -o Sr. */
export const massdnsSimpleLines: Writer = (visit) =>
  questions(visit).map(({ type, status, data }) =>
    [
      `192.0.2.53:53 ${visit.at} ${status} ${visit.name}.  ${type}`,
      ...data.map((each) => `${visit.name}. ${type} ${each}`),
    ].join('\n'),
  )

function questions({ status, sets }: Visit): { type: RecordType; status: string; data: string[] }[] {
  if (status === 'nxdomain') return [{ type: 'A', status: 'NXDOMAIN', data: [] }]
  if (status === 'servfail') return (['A', 'AAAA'] as const).map((type) => ({ type, status: 'SERVFAIL', data: [] }))
  return typesOf(sets).map((type) => ({ type, status: 'NOERROR', data: printed(type, sets, hexadecimal) }))
}

/** The rows of a passive sensor: each record set that is not empty, in one row or in several. */
export const cofLines: Writer = ({ name, at, lasts, sets }) =>
  typesOf(sets).flatMap((type) => {
    const all = printed(type, sets, decimal)
    const row = (rdata: string[] | string) =>
      JSON.stringify({
        rrname: `${name}.`,
        rrtype: type,
        rdata,
        time_first: at,
        time_last: timeOf(at + lasts),
        count: 1,
      })
    if (all.length === 0) return []
    return at % 2 === 0 ? [row(all)] : all.map(row)
  })

/** Prints records. `spell` writes unusual bytes. */
function printed(
  type: RecordType,
  { A, AAAA, MX, TXT, NS, SOA, CNAME }: Sets,
  spell: (byte: number) => string,
): string[] {
  const text = (labels: Host): string => `${hostText(labels, spell)}.`
  const quoted = (bytes: Uint8Array): string => `"${partText(bytes, spell)}"`
  const lists: Record<RecordType, () => string[]> = {
    A: () => A!,
    AAAA: () => AAAA!,
    MX: () => MX!.map(({ priority, host }) => `${priority} ${text(host)}`),
    TXT: () => TXT!.map((parts) => parts.map(quoted).join(' ')),
    NS: () => NS!.map(text),
    SOA: () =>
      SOA!.map(({ primary, numbers }) => `${text(primary)} host${spell(46)}master.example.net. ${numbers.join(' ')}`),
    CNAME: () => CNAME!.map(text),
  }
  return lists[type]()
}

function hostText(labels: Host, spell: (byte: number) => string): string {
  return labels
    .map((bytes) => written(bytes, spell, (byte) => byte > 32 && byte < 127 && byte !== 46 && byte !== 92))
    .join('.')
}

function partText(bytes: Uint8Array, spell: (byte: number) => string): string {
  return written(bytes, spell, (byte) => byte >= 32 && byte < 127 && byte !== 92)
}

function written(bytes: Uint8Array, spell: (byte: number) => string, isPlain: (byte: number) => boolean): string {
  return [...bytes].map((byte) => (isPlain(byte) ? String.fromCharCode(byte) : spell(byte))).join('')
}

function decimal(byte: number): string {
  return `\\${String(byte).padStart(3, '0')}`
}

function hexadecimal(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`
}
