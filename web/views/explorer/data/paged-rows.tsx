/** Rows that are loaded page by page, each page for one call. */

import type { ComponentChildren } from 'preact'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { EmptyState, ErrorBox, Loading } from '../../../parts/notice.tsx'
import type { Column } from '../../../parts/table.tsx'
import { formatCount } from '../../../parts/text/numbers.ts'
import { Day } from '../../../parts/time.tsx'
import { type CsvRow, DataTools, type DataToolsProps } from './data-tools.tsx'
import type { Pages, usePages } from './pages.ts'

type PagedRowsProps<Row> = Pick<DataToolsProps, 'name' | 'call'> & {
  pages: ReturnType<typeof usePages<Row>>
  /** What is loading, in a message. */
  what: string
  /** Says that there are no rows. */
  empty: ComponentChildren
  children: (rows: readonly Row[]) => ComponentChildren
}

/** The rows, the button that loads more, and the tools for their data. A page before the last may be empty. */
export function PagedRows<Row extends CsvRow>({ pages, what, empty, name, call, children }: PagedRowsProps<Row>) {
  const { rows, next, error, first } = pages
  if (rows === null) return error === null ? <Loading what={what} /> : <ErrorBox error={error} onRetry={pages.retry} />
  return (
    <>
      {first?.requested != null && (
        <p class="hint">
          Nothing is on record for {first.requested}: this is about {first.query}.
        </p>
      )}
      {first?.removed_before != null && (
        <p class="hint">
          History from before <Day at={first.removed_before} /> was removed: earlier rows may be missing, or begin later
          than they did.
        </p>
      )}
      {rows.length > 0 && children(rows)}
      {rows.length === 0 && next === null && empty}
      {rows.length === 0 && next !== null && (
        <EmptyState title="Nothing in this part">Further parts follow.</EmptyState>
      )}
      <LoadMore {...pages} />
      <DataTools name={name} call={call} json={rows} rows={() => rows} />
    </>
  )
}

/** A card with such rows and how many are loaded. `about`: what stands above the rows. */
export function PagedCard<Row extends CsvRow>({
  title,
  about,
  ...paged
}: PagedRowsProps<Row> & { title: string; about?: ComponentChildren }) {
  const { rows } = paged.pages
  return (
    <Card title={title} aside={rows === null ? undefined : `${formatCount(rows.length)} shown`}>
      {about}
      <PagedRows {...paged} />
    </Card>
  )
}

/** The columns of rows that have a first and a last time. */
export const SEEN_COLUMNS: readonly Column<{ first_seen: string; last_seen: string }>[] = [
  { name: 'First seen', cell: ({ first_seen }) => <Day at={first_seen} /> },
  { name: 'Last seen', cell: ({ last_seen }) => <Day at={last_seen} /> },
]

/** The button that loads the next page, or what failed. */
export function LoadMore({ next, isLoading, error, more, retry }: Omit<Pages<unknown>, 'rows'>) {
  if (error !== null) return <ErrorBox error={error} onRetry={retry} />
  if (next === null) return null
  return (
    <Button onClick={more} isBusy={isLoading}>
      Load more (1 call)
    </Button>
  )
}
