/** Writes the data of records in presentation form (RFC 1035, section 5). */

import type { AnyRecord, MXRecord, RecordType, SOARecord, TXTRecord } from './dns-record.ts'

/** The data of a record without owner, class and TTL, such as `10 mx.example.com` or `"v=spf1 -all"`. */
export function formatPresentation(type: RecordType, record: AnyRecord): string {
  return formatData(type, record, relative)
}

/** As formatPresentation, but names are absolute: they end in a dot, as in a zone file. */
export function formatAbsolutePresentation(type: RecordType, record: AnyRecord): string {
  return formatData(type, record, absoluteName)
}

/** A name with its trailing dot. */
export function absoluteName(name: string): string {
  return name === '.' ? name : `${name}.`
}

function relative(name: string): string {
  return name
}

type NameForm = (name: string) => string

function formatData(type: RecordType, record: AnyRecord, formatName: NameForm): string {
  if (type === 'MX') return formatMx(record as MXRecord, formatName)
  if (type === 'TXT') return (record as TXTRecord).parts.map(quotedPart).join(' ')
  if (type === 'SOA') return formatSoa(record as SOARecord, formatName)
  const data = Object.values(record)[0] as string
  return type === 'NS' || type === 'CNAME' ? formatName(data) : data
}

function formatMx({ priority, mail_server }: MXRecord, formatName: NameForm): string {
  return `${priority} ${formatName(mail_server)}`
}

/** A part has the escapes of presentation form already, except that of the quote. */
function quotedPart(part: string): string {
  return `"${part.replaceAll('"', '\\"')}"`
}

/** Without the last field if the zone did not report it. */
function formatSoa({ primary_nameserver, admin_email, ...numbers }: SOARecord, formatName: NameForm): string {
  const { serial, refresh_seconds, retry_seconds, expire_seconds, minimum_ttl_seconds } = numbers
  const fields = [serial, refresh_seconds, retry_seconds, expire_seconds, minimum_ttl_seconds]
  const reported = fields.filter((field) => field !== undefined)
  return [formatName(primary_nameserver), formatName(mailboxName(admin_email)), ...reported].join(' ')
}

/**
 * The RNAME of a mail address (RFC 1035, section 8): dots of the mailbox are escaped, and the at-sign becomes a dot.
 */
export function mailboxName(email: string): string {
  const at = email.indexOf('@')
  return at < 0 ? email : `${email.slice(0, at).replace(/\\.|\./gs, escapedDot)}.${email.slice(at + 1)}`
}

function escapedDot(text: string): string {
  return text === '.' ? '\\.' : text
}
