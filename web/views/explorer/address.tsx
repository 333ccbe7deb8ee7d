/** /ip/ADDRESS: the domains on an address now, and over time; /ip/NETWORK: those of a network. */

import { useEffect, useState } from 'preact/hooks'
import { useLoaded } from '../../client/loaded.ts'
import { endpointPath, ipPath, neighboursPath, profilePath } from '../../client/paths.ts'
import { pageAddress } from '../../client/router.ts'
import { useSignal } from '../../client/signal.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { EmptyState, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { countOf, formatCount } from '../../parts/text/numbers.ts'
import { Ago, Day } from '../../parts/time.tsx'
import { WatchLink } from '../watches/watch-link.tsx'
import { DataTools } from './data/data-tools.tsx'
import { LoadMore, PagedRows } from './data/paged-rows.tsx'
import { useFurtherPages, usePages } from './data/pages.ts'
import type { IpProfileBody, NeighbourRow, PagedBody } from './data/responses.ts'
import { endpointCall } from './data/snippets.ts'
import { AddressTimes } from './past/address-times.tsx'
import { addRecentQuery } from './search/recent.ts'

/** The rows that a table shows at first. More of them cost nothing, because they are loaded. */
const FIRST_ROWS = 50

export function AddressPage({ address }: { address: string }) {
  useEffect(() => {
    if (!address.includes('/')) addRecentQuery({ kind: 'ip', value: address })
  }, [address])
  const day = useSignal(pageAddress).query.get('at')
  const isNetwork = address.includes('/')
  return (
    <>
      <header class="subject">
        <div class="subject-line">
          <h1 class="subject-name">{address}</h1>
          <WatchLink kind="address" value={address} />
        </div>
        <p class="hint">
          {address.includes(':') ? 'IPv6' : 'IPv4'} {isNetwork ? 'network' : 'address'}
        </p>
      </header>
      <div class="stack">
        {!isNetwork && day === null && <PresentDomains address={address} />}
        <AddressTimes key={`${address} ${day}`} addresses={address} day={day} />
      </div>
    </>
  )
}

function PresentDomains({ address }: { address: string }) {
  const { loaded, retry } = useLoaded<IpProfileBody>(ipPath(address))
  return (
    <LoadedView loaded={loaded} what="domains on this address" onRetry={retry}>
      {(body) => <AddressDomains body={body} />}
    </LoadedView>
  )
}

function AddressDomains({ body }: { body: IpProfileBody }) {
  const { ip, count, domains, next: first } = body
  const further = useFurtherPages<NeighbourRow, PagedBody<NeighbourRow>>(
    ip,
    first,
    (cursor) => endpointPath('reverseip', { query: ip, next: cursor }),
    ({ result }) => result,
  )
  const rows = [...domains, ...further.rows.map(({ target, since }) => ({ target, since }))]
  return (
    <Card title={`${countOf(count, 'domain')} on this address`} aside={`${formatCount(rows.length)} shown`}>
      <DomainRows key={rows.length} caption={`Domains on ${ip}`} rows={rows} />
      <LoadMore {...further} />
      <DataTools name={ip} call={{ path: ipPath(ip), parameters: null }} json={body} rows={() => rows} />
    </Card>
  )
}

export function Neighbours({ name }: { name: string }) {
  const pages = usePages<NeighbourRow>((cursor) => neighboursPath(name, cursor))
  return (
    <div class="stack">
      <PagedRows
        pages={pages}
        what="neighbours"
        empty={<Addresses addresses={pages.first?.ips ?? []} rows={[]} />}
        name={`${name}-neighbours`}
        call={endpointCall('reverseip', { query: name })}
      >
        {(rows) => <Addresses addresses={pages.first?.ips ?? []} rows={rows} />}
      </PagedRows>
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

function DomainRows({ caption, rows }: { caption: string; rows: readonly { target: string; since: string }[] }) {
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
