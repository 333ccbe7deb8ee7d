/** /domain/NAME/neighbours: the other domains on each of its addresses. */

import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { EmptyState, ErrorBox, Loading } from '../../parts/notice.tsx'
import { countOf } from '../../parts/numbers.ts'
import { Table } from '../../parts/table.tsx'
import { Ago, Day } from '../../parts/time.tsx'
import { DataTools } from './data/data-tools.tsx'
import { usePages } from './data/pages.ts'
import { endpointPath, ipPath, type NeighbourRow, profilePath } from './data/responses.ts'
import { endpointCall } from './data/snippets.ts'

export function neighboursPath(name: string, next: string | null = null): string {
  return endpointPath('reverseip', { query: name, ...(next !== null && { next }) })
}

export function Neighbours({ name }: { name: string }) {
  const pages = usePages<NeighbourRow>((cursor) => neighboursPath(name, cursor))
  const { rows, first, next, isLoading, error, more, retry } = pages
  return (
    <div class="stack">
      {rows === null && error === null && <Loading what="neighbours" />}
      {rows !== null && <Addresses addresses={first?.ips ?? []} rows={rows} />}
      {error !== null && <ErrorBox error={error} onRetry={retry} />}
      {next !== null && error === null && rows !== null && (
        <Button onClick={more} isBusy={isLoading}>
          Load more (1 call)
        </Button>
      )}
      {rows !== null && (
        <DataTools
          name={`${name}-neighbours`}
          call={endpointCall('reverseip', { query: name })}
          json={rows}
          rows={() => rows}
        />
      )}
    </div>
  )
}

function Addresses({ addresses, rows }: { addresses: readonly string[]; rows: readonly NeighbourRow[] }) {
  const byAddress = Map.groupBy(rows, ({ ip }) => ip)
  return (
    <>
      {addresses.map((ip) => (
        <AddressCard key={ip} ip={ip} rows={byAddress.get(ip) ?? []} />
      ))}
    </>
  )
}

function AddressCard({ ip, rows }: { ip: string; rows: readonly NeighbourRow[] }) {
  return (
    <Card
      title={ip}
      className="address-card"
      aside={
        <>
          <span>{countOf(rows.length, 'neighbour')}</span> <a href={ipPath(ip)}>All on this address</a>
        </>
      }
    >
      {rows.length === 0 ? (
        <EmptyState title="No other domain is on this address" />
      ) : (
        <DomainRows caption={`Domains on ${ip}`} rows={rows} />
      )}
    </Card>
  )
}

/** The rows that a table shows at first. More of them cost nothing, because they are loaded. */
const FIRST_ROWS = 50

export function DomainRows({ caption, rows }: { caption: string; rows: readonly { target: string; since: string }[] }) {
  const [isWhole, setIsWhole] = useState(rows.length <= FIRST_ROWS)
  return (
    <>
      <Table
        caption={caption}
        isDense
        keyOf={({ target }) => target}
        rows={isWhole ? rows : rows.slice(0, FIRST_ROWS)}
        columns={[
          { name: 'Domain', cell: ({ target }) => <a href={profilePath(target)}>{target}</a> },
          { name: 'On this address since', cell: ({ since }) => <Day at={since} /> },
          { name: 'Age', cell: ({ since }) => <Ago at={since} /> },
        ]}
      />
      {!isWhole && (
        <Button kind="quiet" isSmall onClick={() => setIsWhole(true)}>
          Show the other {rows.length - FIRST_ROWS}
        </Button>
      )}
    </>
  )
}
