/** /domain/NAME/web: the states of a website over time, newest first. */

import { profilePath, webHistoryPath } from '../../../client/paths.ts'
import { EmptyState } from '../../../parts/notice.tsx'
import { Table } from '../../../parts/table.tsx'
import { PagedCard, SEEN_COLUMNS } from '../data/paged-rows.tsx'
import { usePages } from '../data/pages.ts'
import type { WebStateRow } from '../data/responses.ts'

const CERTIFICATE: Record<string, string> = {
  valid: 'valid certificate',
  invalid: 'invalid certificate',
  nocert: 'no certificate',
}

export function WebHistory({ name }: { name: string }) {
  const pages = usePages<WebStateRow>((cursor) => webHistoryPath(name, cursor))
  return (
    <PagedCard
      title="Website over time"
      pages={pages}
      what="the past of the website"
      empty={<EmptyState title="No website on record" />}
      name={`${name}-web`}
      call={{ path: webHistoryPath(name, null), parameters: null }}
    >
      {(rows) => <StateRows rows={rows} />}
    </PagedCard>
  )
}

function StateRows({ rows }: { rows: readonly WebStateRow[] }) {
  return (
    <Table
      caption="Website over time"
      isDense
      keyOf={({ first_seen }) => first_seen}
      rows={rows}
      columns={[{ name: 'Website', cell: (row) => <What row={row} /> }, ...SEEN_COLUMNS]}
    />
  )
}

function What({ row }: { row: WebStateRow }) {
  const { has_website, redirects_to: target, redirect_host: host } = row
  const details = [
    CERTIFICATE[row.ssl],
    row.redirect_to_https === 'yes' && 'http to https',
    row.redirect_to_www === 'yes' && 'to www',
    row.only_with_www === 'yes' && 'only with www',
    host !== null && host !== target && `ends at ${host}`,
  ].filter(Boolean)
  return (
    <>
      {target === null ? (
        has_website === 'yes' ? (
          'Yes'
        ) : (
          'No'
        )
      ) : (
        <>
          Redirects to <a href={profilePath(target)}>{target}</a>
        </>
      )}
      <div class="hint">{details.join(', ')}</div>
    </>
  )
}
