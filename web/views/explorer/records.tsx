/** The records of a domain by type, now or as of a day. */

import { Ago, Day } from '../../parts/time.tsx'
import { type DnsRecord, ipPath, RECORD_TYPES, type RecordsByType, type RecordType } from './data/responses.ts'
import { recordText } from './history/history-data.ts'

type TypeRecordsProps = { type: RecordType; state: RecordsByType[RecordType]; isPast: boolean }

const SOA_PARTS = [
  ['refresh', 'refresh_seconds'],
  ['retry', 'retry_seconds'],
  ['expire', 'expire_seconds'],
  ['minimum', 'minimum_ttl_seconds'],
] as const

/** Each type with its records and since when they are; of the past, also when they were last seen. */
export function RecordList({ records, isPast = false }: { records: RecordsByType; isPast?: boolean }) {
  return (
    <dl class="records">
      {RECORD_TYPES.map((type) => (
        <TypeRecords key={type} type={type} state={records[type]} isPast={isPast} />
      ))}
    </dl>
  )
}

function Stay({ since, last }: { since: string; last: string | null }) {
  return (
    <>
      <Day at={since} /> to {last === null ? 'an unknown day' : <Day at={last} />}
    </>
  )
}

function TypeRecords({ type, state, isPast }: TypeRecordsProps) {
  return (
    <div class={state === null || state.records.length === 0 ? 'record-type none' : 'record-type'}>
      <dt>
        {type}
        {state?.since && (
          <span class="record-age">
            {isPast ? (
              <Stay since={state.since} last={state.last_seen ?? null} />
            ) : (
              <>
                since <Ago at={state.since} />
              </>
            )}
          </span>
        )}
      </dt>
      <dd>
        {state === null && <span class="hint">{isPast ? 'not on record' : 'never seen'}</span>}
        {state?.records.length === 0 && <span class="hint">{isPast ? 'none then' : 'none now'}</span>}
        {state?.records.map((record) => (
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
  return <span class="record mono">{recordText(type, record)}</span>
}

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
