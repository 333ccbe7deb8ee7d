/** dig as a reference tool: the seven record types of a name, in the form of observations. */

import type { DnsServer } from '../../src/probe/dns/server.ts'
import { parseAddress } from '../../src/values/ip-address.ts'
import { RECORD_TYPES, type RecordType, usableRecords } from '../../src/values/records/dns-record.ts'
import { adminEmail, parseHostName } from '../../src/values/records/host-name.ts'
import { encodeTxtPart } from '../../src/values/records/txt-part.ts'
import { runTool } from './run-tool.ts'

/** One reply: the status of its header in lower case, and its records. */
type Reply = { status: string; lines: AnswerLine[] }
type AnswerLine = { owner: string; type: string; data: string }

/**
 * The result of dig for a name. A missing type means that there was no answer. Records are JSON of the canonical set.
 */
export type DigResult = { status: 'ok' | 'nxdomain' | 'servfail'; records: Partial<Record<RecordType, string>> }

const TIMEOUT_MILLISECONDS = 40_000
const MAX_ALIASES = 16

export async function queryWithDig(server: DnsServer, name: string): Promise<DigResult> {
  const replies = await digAll(server, name, RECORD_TYPES)
  const records: DigResult['records'] = {}
  for (const [type, reply] of replies) {
    const dataOfType = await recordsOf(server, name, type, reply)
    if (dataOfType !== null) records[type] = JSON.stringify(usableRecords(type, dataOfType))
  }
  return { status: statusOf(replies, records), records }
}

function statusOf(replies: ReadonlyMap<RecordType, Reply>, records: DigResult['records']): DigResult['status'] {
  const addresses = [replies.get('A'), replies.get('AAAA')]
  if (addresses.some((reply) => reply?.status === 'nxdomain' && reply.lines.length === 0)) return 'nxdomain'
  if (records.A !== undefined || records.AAAA !== undefined) return 'ok'
  return [...replies.values()].some(({ status }) => status === 'nxdomain') ? 'nxdomain' : 'servfail'
}

/** Queries all types in one run of dig. */
async function digAll(server: DnsServer, name: string, types: readonly RecordType[]): Promise<Map<RecordType, Reply>> {
  const options = ['+noall', '+comments', '+question', '+answer', '+tries=2', '+timeout=2', '+nosearch']
  const serverArgs = [`@${server.address}`, '-p', String(server.port)]
  const questions = types.flatMap((type) => [name, type, ...options])
  const { text } = await runTool('dig', [...serverArgs, ...questions], TIMEOUT_MILLISECONDS)
  const replies = new Map<RecordType, Reply>()
  for (const block of text.split(/^;; ->>HEADER<<- /m).slice(1)) {
    const [, status = ''] = /status: (\w+)/.exec(block) ?? []
    const [, type] = /^;\S+\s+IN\s+(\w+)$/m.exec(block) ?? []
    if (type !== undefined) replies.set(type as RecordType, { status: status.toLowerCase(), lines: linesOf(block) })
  }
  return replies
}

function linesOf(block: string): AnswerLine[] {
  return [...block.matchAll(/^([^;\s]\S*)\s+\d+\s+IN\s+(\w+)\s+(.*)$/gm)].map(([, owner, type, data]) => ({
    owner: parseHostName(owner!) ?? owner!,
    type: type!,
    data: data!,
  }))
}

/**
 * Returns the records of a type in the form of an observation file, or null if there was no answer. Follows aliases
 * itself.
 */
async function recordsOf(server: DnsServer, name: string, type: RecordType, reply: Reply): Promise<unknown[] | null> {
  let { status, lines } = reply
  const isAddress = type === 'A' || type === 'AAAA'
  for (let links = 0; isAddress && links < MAX_ALIASES; links++) {
    const target = lines.filter((line) => line.type === 'CNAME').at(-1)?.data
    if (target === undefined || status !== 'noerror' || lines.some((line) => line.type === type)) break
    const next = (await digAll(server, target, [type])).get(type)
    if (next === undefined) return null
    ;({ status, lines } = next)
    if (!lines.some((line) => line.type === 'CNAME')) break
  }
  if (status !== 'noerror' && status !== 'nxdomain') return null
  const own = lines.filter((line) => line.type === type && (isAddress || line.owner === parseHostName(name)))
  return own.map(({ data }) => PARSERS[type](data))
}

const PARSERS: Record<RecordType, (data: string) => unknown> = {
  A: (data) => data,
  AAAA: (data) => parseAddress(data),
  NS: (data) => data,
  CNAME: (data) => data,
  MX: (data) => {
    const [priority, mail_server] = data.split(' ')
    return { priority: Number(priority), mail_server }
  },
  TXT: (data) => [...data.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map(([, part]) => encodeTxtPart(unescapeText(part!))),
  SOA: (data) => {
    const [primary_nameserver, mailbox = '', serial, refresh, retry, expire, minimum] = data.split(' ')
    return {
      primary_nameserver,
      admin_email: adminEmail(mailbox),
      serial: Number(serial),
      refresh_seconds: Number(refresh),
      retry_seconds: Number(retry),
      expire_seconds: Number(expire),
      minimum_ttl_seconds: Number(minimum),
    }
  },
}

/** Decodes a quoted text. `\DDD` and `\X` are escapes. */
function unescapeText(text: string): Uint8Array {
  return Buffer.from(
    text.replace(/\\(\d{3}|.)/gs, (_, escaped) =>
      escaped.length === 3 ? String.fromCharCode(Number(escaped)) : escaped,
    ),
    'latin1',
  )
}
