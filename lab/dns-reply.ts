/** Builds the reply of the lab's DNS server to one message: follows aliases, and truncates or omits the reply. */

import { type Answer, decode, encode, type Packet, RECURSION_AVAILABLE, TRUNCATED_RESPONSE } from 'dns-packet'
import { DNS_TYPE_CODES } from '../src/probe/dns/message/query.ts'
import { RECORD_TYPES, type RecordType } from '../src/values/records/dns-record.ts'
import { recordData } from './dns-data.ts'
import type { DnsHost, DnsOutcome } from './dns-table.ts'

/** One received question. `type`: its name, or `UNKNOWN_` and its number. */
export type DnsQueryEvent = { host: string; type: string; over: 'udp' | 'tcp' }

/** Returns the table's entry of a host. */
export type HostAt = (host: string) => DnsHost

/** The message to send after `delay` milliseconds, or null for no reply. */
export type DnsReplyMessage = { message: Buffer | null; delay: number }

type ResolvedQuestion = {
  outcome: DnsOutcome | 'records' | 'absent' | 'stopped'
  answers: Answer[]
  delay: number
  isCut: boolean
}

const CODES: Partial<Record<ResolvedQuestion['outcome'], number>> = { servfail: 2, nxdomain: 3, refused: 5 }
const MAX_ALIASES = 20
const TIME_TO_LIVE = 60
const PLAIN_BYTES = 512
const EDNS_BYTES = 1232
/** The SOA of negative answers, and of zones for which any SOA will do. */
export const LAB_SOA = {
  primary_nameserver: 'ns.lab',
  mailbox: 'hostmaster.lab',
  serial: 1,
  refresh_seconds: 7200,
  retry_seconds: 3600,
  expire_seconds: 1_209_600,
  minimum_ttl_seconds: 60,
}
const START_OF_AUTHORITY = recordData('SOA', LAB_SOA)

/** `nextRotation` counts rotating answers: it returns how often it was called with the same text. */
export function replyTo(
  message: Buffer,
  hostAt: HostAt,
  over: 'udp' | 'tcp',
  nextRotation: (key: string) => number,
  onQuery: (question: DnsQueryEvent) => void,
): DnsReplyMessage {
  const packet = read(message)
  const question = packet?.questions?.[0]
  if (packet === null || question === undefined) return { message: null, delay: 0 }
  const host = question.name.toLowerCase()
  onQuery({ host, type: question.type, over })
  const verdict = resolveQuestion(hostAt, host, question.type, nextRotation)
  const { outcome, delay } = verdict
  if (outcome === 'silent') return { message: null, delay }
  const whole = write(packet, verdict)
  if (outcome === 'malformed') return { message: whole.subarray(0, -3), delay }
  const isCut = over === 'udp' && (verdict.isCut || whole.length > maxReplyBytes(packet))
  return { message: isCut ? write(packet, null) : whole, delay }
}

function read(message: Buffer): Packet | null {
  try {
    return decode(message)
  } catch {
    return null
  }
}

/** Follows aliases, as a resolver does. */
function resolveQuestion(
  hostAt: HostAt,
  host: string,
  type: string,
  nextRotation: (key: string) => number,
): ResolvedQuestion {
  const verdict: ResolvedQuestion = { outcome: 'servfail', answers: [], delay: 0, isCut: false }
  for (let at = host; verdict.answers.length <= MAX_ALIASES; ) {
    const row = hostAt(at)
    if (typeof row === 'string') return { ...verdict, outcome: row }
    verdict.delay = Math.max(verdict.delay, row.delay ?? 0)
    verdict.isCut ||= row.truncated === true
    const typeAnswer = isRecordType(type) ? row[type] : undefined
    if (typeof typeAnswer === 'string') return { ...verdict, outcome: typeAnswer }
    if (typeAnswer !== undefined && isRecordType(type)) {
      const list =
        'rotation' in typeAnswer
          ? typeAnswer.rotation[nextRotation(`${at} ${type}`) % typeAnswer.rotation.length]!
          : typeAnswer
      const answers = list.map((record) => recordOf(at, type, recordData(type, record)))
      return { ...verdict, outcome: list.length > 0 ? 'records' : 'absent', answers: [...verdict.answers, ...answers] }
    }
    const [target] = Array.isArray(row.CNAME) ? row.CNAME : []
    if (target === undefined) return { ...verdict, outcome: 'absent' }
    verdict.answers.push(recordOf(at, 'CNAME', recordData('CNAME', target)))
    if (row.omitsTarget) return { ...verdict, outcome: 'stopped' }
    at = target
  }
  return { ...verdict, answers: [] }
}

/** Encodes the message. A null verdict means that it did not fit and is only marked as truncated. */
function write({ id, questions = [], additionals = [], flags = 0 }: Packet, verdict: ResolvedQuestion | null): Buffer {
  const { outcome, answers } = verdict ?? { outcome: 'cut', answers: [] }
  const code = verdict === null ? 0 : (CODES[verdict.outcome] ?? 0)
  const standing = outcome === 'lame' || outcome === 'stopped' ? 0 : RECURSION_AVAILABLE
  const hasOption = additionals.some(({ type }) => type === 'OPT') && outcome !== 'malformed'
  const placeholder = [recordOf(questions[0]!.name, 'A', recordData('A', '127.0.0.1'))]
  return encode({
    type: 'response',
    ...(id === undefined ? {} : { id }),
    flags: (flags & 0x0100) | standing | code | (verdict === null ? TRUNCATED_RESPONSE : 0),
    questions,
    answers: outcome === 'malformed' ? placeholder : code === 2 || code === 5 ? [] : answers,
    authorities: authoritiesOf(outcome),
    additionals: hasOption ? [OPTION] : [],
  })
}

/** An SOA means that the host has no record of the type or does not exist. Name servers alone are a referral. */
function authoritiesOf(outcome: string): Answer[] {
  if (outcome === 'lame') return [recordOf('.', 'NS', recordData('NS', 'ns.elsewhere.lab'))]
  return outcome === 'absent' || outcome === 'nxdomain' ? [recordOf('.', 'SOA', START_OF_AUTHORITY)] : []
}

/** dns-packet writes the data of unknown types as it is. */
function recordOf(name: string, type: RecordType, data: Buffer): Answer {
  const record = { name, type: `UNKNOWN_${DNS_TYPE_CODES[type]}`, class: 'IN', ttl: TIME_TO_LIVE, data }
  return record as unknown as Answer
}

const OPTION = { name: '.', type: 'OPT', udpPayloadSize: EDNS_BYTES, flags: 0, options: [] } as unknown as Answer

function maxReplyBytes({ additionals = [] }: Packet): number {
  const option = additionals.find((each) => each.type === 'OPT')
  return Math.max(PLAIN_BYTES, option?.type === 'OPT' ? option.udpPayloadSize : 0)
}

function isRecordType(text: string): text is RecordType {
  return (RECORD_TYPES as readonly string[]).includes(text)
}
