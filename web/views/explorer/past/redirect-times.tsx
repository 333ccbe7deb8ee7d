/** The card with the domains that redirected to a domain, and when. */

import { useState } from 'preact/hooks'
import { profilePath, redirectTimesPath } from '../../../client/paths.ts'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { EmptyState } from '../../../parts/notice.tsx'
import { Table } from '../../../parts/table.tsx'
import { PagedCard, SEEN_COLUMNS } from '../data/paged-rows.tsx'
import { usePages } from '../data/pages.ts'
import type { RedirectTimeRow } from '../data/responses.ts'

/** Loading them costs a call of its own. */
export function RedirectTimes({ name }: { name: string }) {
  const [isOpen, setIsOpen] = useState(false)
  if (isOpen) return <LoadedTimes name={name} />
  return (
    <Card title="Redirected here over time">
      <p class="hint">Every domain that ever redirected here or to a host below, with the first and the last day.</p>
      <Button onClick={() => setIsOpen(true)}>Show past redirects (1 call)</Button>
    </Card>
  )
}

function LoadedTimes({ name }: { name: string }) {
  const pathOf = (cursor: string | null) => redirectTimesPath(name, cursor)
  const pages = usePages<RedirectTimeRow>(pathOf)
  return (
    <PagedCard
      title="Redirected here over time"
      pages={pages}
      what="past redirects"
      empty={<EmptyState title="No domain redirected here" />}
      name={`${name}-redirect-times`}
      call={{ path: pathOf(null), parameters: null }}
    >
      {(rows) => (
        <Table
          caption="Domains that redirected here"
          isDense
          stacks
          keyOf={({ target, redirect_host, first_seen }) => `${target} ${redirect_host} ${first_seen}`}
          rows={rows}
          columns={[
            {
              name: 'Domain',
              cell: ({ target }) => (
                <a class="wrap" href={profilePath(target)}>
                  {target}
                </a>
              ),
            },
            { name: 'To', cell: ({ redirect_host }) => <span class="wrap">{redirect_host}</span> },
            ...SEEN_COLUMNS,
          ]}
        />
      )}
    </PagedCard>
  )
}
