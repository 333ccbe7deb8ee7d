/** The card with the domains that were on an address or a network, and when: at a day, or present and past. */

import { useState } from 'preact/hooks'
import { addressTimesPath, ipPath, profilePath } from '../../../client/paths.ts'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { EmptyState } from '../../../parts/notice.tsx'
import { Table } from '../../../parts/table.tsx'
import { PagedCard, SEEN_COLUMNS } from '../data/paged-rows.tsx'
import { usePages } from '../data/pages.ts'
import type { AddressTimeRow } from '../data/responses.ts'
import { AddressLink } from '../records.tsx'
import { DateForm } from './date-form.tsx'

type Question = { addresses: string; day: string | null }

/** `addresses`: an address or a network. `day`: null for present and past, which costs a call of its own. */
export function AddressTimes({ addresses, day }: Question) {
  const [isOpen, setIsOpen] = useState(day !== null || addresses.includes('/'))
  return (
    <>
      {isOpen ? (
        <LoadedTimes addresses={addresses} day={day} />
      ) : (
        <Card title="Over time">
          <p class="hint">Every domain that was ever seen on this address, with the first and the last day.</p>
          <Button onClick={() => setIsOpen(true)}>Show past neighbours (1 call)</Button>
        </Card>
      )}
      <Card title="Another day">
        <DateForm path={ipPath(addresses)} day={day} />
      </Card>
    </>
  )
}

function LoadedTimes({ addresses, day }: Question) {
  const pathOf = (cursor: string | null) => addressTimesPath(addresses, day, cursor)
  const pages = usePages<AddressTimeRow>(pathOf)
  const title = day === null ? 'Over time' : `As of the end of ${day}`
  return (
    <PagedCard
      title={title}
      pages={pages}
      what="past neighbours"
      empty={<EmptyState title="No domain was seen here" />}
      name={`${addresses}-${day ?? 'times'}`}
      call={{ path: pathOf(null), parameters: null }}
    >
      {(rows) => <TimeRows rows={rows} isNetwork={addresses.includes('/')} name={addresses} />}
    </PagedCard>
  )
}

function TimeRows({ rows, isNetwork, name }: { rows: readonly AddressTimeRow[]; isNetwork: boolean; name: string }) {
  return (
    <Table
      caption={`Domains that were on ${name}`}
      isDense
      keyOf={({ target, ip, first_seen }) => `${target} ${ip} ${first_seen}`}
      rows={rows}
      columns={[
        {
          name: 'Domain',
          cell: ({ target, ip }) => (
            <>
              <a href={profilePath(target)}>{target}</a>
              {isNetwork && (
                <div>
                  <AddressLink ip={ip} />
                </div>
              )}
            </>
          ),
        },
        ...SEEN_COLUMNS,
      ]}
    />
  )
}
