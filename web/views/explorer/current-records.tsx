/** The current records of all types, or the last ones of a name that is gone, with the time since when they are. */

import { Card } from '../../parts/card.tsx'
import { Ago } from '../../parts/time.tsx'
import { type DnsRecord, type DomainProfileBody, ipPath, RECORD_TYPES, type RecordType } from './data/responses.ts'

export function CurrentRecords({ profile }: { profile: DomainProfileBody }) {
  return (
    <Card
      title={profile.former_records === null ? 'DNS records' : 'Last DNS records, gone now'}
      aside={<a href={`/domain/${encodeURIComponent(profile.name)}/history`}>History</a>}
    >
      <dl class="records">
        {RECORD_TYPES.map((type) => (
          <TypeRecords key={type} type={type} current={(profile.former_records ?? profile.records)[type]} />
        ))}
      </dl>
    </Card>
  )
}

type TypeRecordsProps = { type: RecordType; current: { since: string | null; records: DnsRecord[] } | null }

function TypeRecords({ type, current }: TypeRecordsProps) {
  return (
    <div class={current === null || current.records.length === 0 ? 'record-type none' : 'record-type'}>
      <dt>
        {type}
        {current?.since && (
          <span class="record-age">
            since <Ago at={current.since} />
          </span>
        )}
      </dt>
      <dd>
        {current === null && <span class="hint">never seen</span>}
        {current?.records.length === 0 && <span class="hint">none now</span>}
        {current?.records.map((record) => (
          <RecordLine key={JSON.stringify(record)} type={type} record={record} />
        ))}
      </dd>
    </div>
  )
}

function RecordLine({ type, record }: { type: RecordType; record: DnsRecord }) {
  if (type === 'A' || type === 'AAAA') {
    const address = String(record.ipv4_address ?? record.ipv6_address)
    return (
      <a class="record mono" href={ipPath(address)}>
        {address}
      </a>
    )
  }
  if (type === 'TXT') return <span class="record mono wrap">{String(record.text)}</span>
  if (type === 'SOA') return <SoaRecord record={record} />
  if (type === 'MX')
    return (
      <span class="record mono">
        <span class="priority">{String(record.priority)}</span> {String(record.mail_server)}
      </span>
    )
  return <span class="record mono">{String(record.nameserver ?? record.target)}</span>
}

const SOA_PARTS = [
  ['refresh', 'refresh_seconds'],
  ['retry', 'retry_seconds'],
  ['expire', 'expire_seconds'],
  ['minimum', 'minimum_ttl_seconds'],
] as const

function SoaRecord({ record }: { record: DnsRecord }) {
  const times = SOA_PARTS.filter(([, key]) => record[key] !== undefined).map(
    ([name, key]) => `${name} ${record[key]} s`,
  )
  return (
    <span class="record">
      <span class="mono">
        {String(record.primary_nameserver)} {String(record.admin_email)}
      </span>
      <span class="hint soa-times">
        serial {String(record.serial)}
        {times.length > 0 && `, ${times.join(', ')}`}
      </span>
    </span>
  )
}
