/** The records of a domain by type, now or as of a day, and links to addresses. */

import { ipPath, profilePath } from '../../client/paths.ts'
import { Ago, Day } from '../../parts/time.tsx'
import { type DnsRecord, RECORD_TYPES, type RecordsByType, type RecordType } from './data/responses.ts'

type TypeRecordsProps = { name: string; type: RecordType; state: RecordsByType[RecordType]; isPast: boolean }

/** Longer texts are no links: an address of a page has a bounded length. */
const MAX_LINKED_TEXT = 1_000

const SOA_PARTS = [
  ['refresh', 'refresh_seconds'],
  ['retry', 'retry_seconds'],
  ['expire', 'expire_seconds'],
  ['minimum', 'minimum_ttl_seconds'],
] as const

/** A link to an address, or with `day` to it as of that day. */
export function AddressLink({ ip, day }: { ip: string; day?: string }) {
  return (
    <a class="mono" href={day === undefined ? ipPath(ip) : `${ipPath(ip)}?at=${day}`}>
      {ip}
    </a>
  )
}

type RecordListProps = { name: string; records: RecordsByType; isPast?: boolean }

/** Each type with its records and since when they are; of the past, also when they were last seen. */
export function RecordList({ name, records, isPast = false }: RecordListProps) {
  return (
    <dl class="records">
      {RECORD_TYPES.map((type) => (
        <TypeRecords key={type} name={name} type={type} state={records[type]} isPast={isPast} />
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

function TypeRecords({ name, type, state, isPast }: TypeRecordsProps) {
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
          <RecordLine key={JSON.stringify(record)} name={name} type={type} record={record} />
        ))}
      </dd>
    </div>
  )
}

/** Addresses, hosts and TXT records are links to who else has them. */
function RecordLine({ name, type, record }: { name: string; type: RecordType; record: DnsRecord }) {
  if (type === 'A' || type === 'AAAA') {
    const address = String(record.ipv4_address ?? record.ipv6_address)
    return (
      <a class="record mono" href={ipPath(address)}>
        {address}
      </a>
    )
  }
  if (type === 'TXT') return <TextRecord name={name} record={record} />
  if (type === 'SOA') return <SoaRecord record={record} />
  if (type === 'MX')
    return (
      <span class="record mono">
        <span class="priority">{String(record.priority)}</span> <Host host={String(record.mail_server)} />
      </span>
    )
  return (
    <span class="record mono">
      <Host host={String(record.nameserver ?? record.target)} />
    </span>
  )
}

function Host({ host }: { host: string }) {
  if (host === '.') return <span>{host}</span>
  return <a href={`${profilePath(host)}/uses`}>{host}</a>
}

function TextRecord({ name, record }: { name: string; record: DnsRecord }) {
  const parts = JSON.stringify(record.parts)
  const text = String(record.text)
  if (parts.length > MAX_LINKED_TEXT || text === '') return <span class="record mono wrap">{text}</span>
  return (
    <a class="record mono wrap" href={`${profilePath(name)}/uses?text=${encodeURIComponent(parts)}`}>
      {text}
    </a>
  )
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
