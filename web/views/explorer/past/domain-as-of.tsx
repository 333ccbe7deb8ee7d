/** /domain/NAME?at=DAY: what a store that ended on a day would show of a domain. */

import { useLoaded } from '../../../client/loaded.ts'
import { domainAsOfPath, profilePath } from '../../../client/paths.ts'
import { Badge, Card, Facts, type Tone } from '../../../parts/card.tsx'
import { EmptyState, LoadedView } from '../../../parts/notice.tsx'
import { Table } from '../../../parts/table.tsx'
import { formatCount } from '../../../parts/text/numbers.ts'
import { Day } from '../../../parts/time.tsx'
import { DataTools } from '../data/data-tools.tsx'
import { type DomainAsOfBody, RECORD_TYPES } from '../data/responses.ts'
import { recordText } from '../history/history-data.ts'
import { AddressLink, RecordList } from '../records.tsx'
import { DateForm } from './date-form.tsx'

const EXISTENCE: Record<string, readonly [tone: Tone, text: string]> = {
  both: ['good', 'Yes, with IPv4 and IPv6'],
  v4only: ['good', 'Yes, with IPv4'],
  v6only: ['good', 'Yes, with IPv6'],
  noip: ['warn', 'Yes, without an address'],
  servfail: ['bad', 'Its name servers failed'],
  nxdomain: ['bad', 'No'],
}

export function DomainAsOf({ name, day }: { name: string; day: string }) {
  const { loaded, retry } = useLoaded<DomainAsOfBody>(domainAsOfPath(name, day))
  return (
    <div class="stack">
      <Card title="Another day">
        <DateForm path={profilePath(name)} day={day} />
      </Card>
      <LoadedView loaded={loaded} what={`what was known about ${name}`} onRetry={retry}>
        {(body) => <Past body={body} day={day} />}
      </LoadedView>
    </div>
  )
}

function Past({ body, day }: { body: DomainAsOfBody; day: string }) {
  const records = body.former_records ?? body.records
  return (
    <>
      <div class="overview">
        <div class="stack">
          <Card
            title={body.former_records === null ? 'DNS records then' : 'Last DNS records, gone then'}
            aside={<a href={`${profilePath(body.name)}/history`}>History</a>}
          >
            <RecordList name={body.name} records={records} isPast />
          </Card>
        </div>
        <div class="stack">
          <Then body={body} />
          <PastAddresses body={body} day={day} />
        </div>
      </div>
      <DataTools
        name={`${body.name}-${day}`}
        call={{ path: domainAsOfPath(body.name, day), parameters: null }}
        json={body}
        rows={() =>
          RECORD_TYPES.flatMap((type) =>
            (records[type]?.records ?? []).map((record) => ({
              type,
              record: recordText(type, record),
              since: records[type]?.since ?? '',
              last_seen: records[type]?.last_seen ?? '',
            })),
          )
        }
      />
    </>
  )
}

function Then({ body: { name, at, lookup, redirects_to: target, website } }: { body: DomainAsOfBody }) {
  const [tone, text] = EXISTENCE[lookup.ip ?? ''] ?? (['plain', 'Not on record'] as const)
  const site = lookup.has_website === 'yes' ? 'Yes' : 'No'
  const redirect = target === null ? 'No other domain' : <a href={profilePath(target.target)}>{target.target}</a>
  const isWebKnown = lookup.has_website !== null
  return (
    <Card title="Then">
      <p class="hint">
        The newest that was observed by then. If records were last seen before that day, nothing is known of the time
        between. <a href={`${profilePath(name)}/web`}>All states of the website</a>
      </p>
      <Facts
        rows={[
          ['As of', <Day key="at" at={at} withTime />],
          [
            'Existed',
            <Badge key="ip" tone={tone}>
              {text}
            </Badge>,
          ],
          ['Website', isWebKnown ? site : 'Not on record'],
          ['Redirected to', isWebKnown ? redirect : 'Not on record'],
          ['Website since', website === null ? 'Not on record' : <Day key="web" at={website.since} />],
        ]}
      />
    </Card>
  )
}

function PastAddresses({ body, day }: { body: DomainAsOfBody; day: string }) {
  const { name, addresses, address_count: count } = body
  const aside = count > addresses.length ? `${addresses.length} of ${formatCount(count)}` : undefined
  return (
    <Card title="Addresses then" aside={aside}>
      {addresses.length === 0 ? (
        <EmptyState title="No address">No A or AAAA record of {name} is on record for that day.</EmptyState>
      ) : (
        <Table
          caption={`Addresses of ${name}`}
          keyOf={({ ip }) => ip}
          rows={addresses}
          columns={[
            { name: 'Address', cell: ({ ip }) => <AddressLink ip={ip} day={day} /> },
            { name: 'Since', cell: ({ since }) => (since === null ? '' : <Day at={since} />) },
          ]}
        />
      )}
    </Card>
  )
}
