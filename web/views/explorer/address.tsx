/** /ip/ADDRESS: the domains on an address. */

import { useEffect } from 'preact/hooks'
import { useLoaded } from '../../client/loaded.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { ErrorBox, LoadedView } from '../../parts/notice.tsx'
import { countOf, formatCount } from '../../parts/numbers.ts'
import { DataTools } from './data/data-tools.tsx'
import { useFurtherPages } from './data/pages.ts'
import { endpointPath, type IpProfileBody, ipPath, type NeighbourRow, type PagedBody } from './data/responses.ts'
import { DomainRows } from './neighbours.tsx'
import { addRecentQuery } from './search/recent.ts'

export function AddressPage({ address }: { address: string }) {
  useEffect(() => addRecentQuery({ kind: 'ip', value: address }), [address])
  const { loaded, retry } = useLoaded<IpProfileBody>(ipPath(address))
  return (
    <>
      <header class="subject">
        <h1 class="subject-name">{address}</h1>
        <p class="hint">{address.includes(':') ? 'IPv6' : 'IPv4'} address</p>
      </header>
      <LoadedView loaded={loaded} what="domains on this address" onRetry={retry}>
        {(body) => <AddressDomains body={body} />}
      </LoadedView>
    </>
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
      {further.error !== null && <ErrorBox error={further.error} onRetry={further.retry} />}
      {further.next !== null && further.error === null && (
        <Button onClick={further.more} isBusy={further.isLoading}>
          Load more (1 call)
        </Button>
      )}
      <DataTools name={ip} call={{ path: ipPath(ip), parameters: null }} json={body} rows={() => rows} />
    </Card>
  )
}
