/** The card with the domains that redirected to a domain, and when. */

import { useState } from 'preact/hooks'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { EmptyState, ErrorBox, Loading } from '../../../parts/notice.tsx'
import { formatCount } from '../../../parts/numbers.ts'
import { Table } from '../../../parts/table.tsx'
import { Day } from '../../../parts/time.tsx'
import { DataTools } from '../data/data-tools.tsx'
import { usePages } from '../data/pages.ts'
import { profilePath, type RedirectTimeRow, redirectTimesPath } from '../data/responses.ts'

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
  const { rows, next, isLoading, error, more, retry } = usePages<RedirectTimeRow>(pathOf)
  return (
    <Card title="Redirected here over time" aside={rows === null ? undefined : `${formatCount(rows.length)} shown`}>
      {rows === null && error === null && <Loading what="past redirects" />}
      {rows !== null && rows.length === 0 && next !== null && (
        <EmptyState title="Nothing in this part">Further parts follow.</EmptyState>
      )}
      {rows !== null && rows.length > 0 && (
        <Table
          caption={`Domains that redirected to ${name}`}
          isDense
          keyOf={({ target, redirect_host, first_seen }) => `${target} ${redirect_host} ${first_seen}`}
          rows={rows}
          columns={[
            { name: 'Domain', cell: ({ target }) => <a href={profilePath(target)}>{target}</a> },
            { name: 'To', cell: ({ redirect_host }) => redirect_host },
            { name: 'First seen', cell: ({ first_seen }) => <Day at={first_seen} /> },
            { name: 'Last seen', cell: ({ last_seen }) => <Day at={last_seen} /> },
          ]}
        />
      )}
      {error !== null && <ErrorBox error={error} onRetry={retry} />}
      {next !== null && error === null && rows !== null && (
        <Button onClick={more} isBusy={isLoading}>
          Load more (1 call)
        </Button>
      )}
      {rows !== null && (
        <DataTools
          name={`${name}-redirect-times`}
          call={{ path: pathOf(null), parameters: null }}
          json={rows}
          rows={() => rows}
        />
      )}
    </Card>
  )
}
