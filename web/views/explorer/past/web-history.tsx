/** /domain/NAME/web: the states of a website over time, newest first. */

import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { EmptyState, ErrorBox, Loading } from '../../../parts/notice.tsx'
import { formatCount } from '../../../parts/numbers.ts'
import { Table } from '../../../parts/table.tsx'
import { Day } from '../../../parts/time.tsx'
import { DataTools } from '../data/data-tools.tsx'
import { usePages } from '../data/pages.ts'
import { profilePath, type WebStateRow, webHistoryPath } from '../data/responses.ts'

const CERTIFICATE: Record<string, string> = { valid: 'Valid', invalid: 'Not valid', nocert: 'None' }

export function WebHistory({ name }: { name: string }) {
  const { rows, next, isLoading, error, more, retry } = usePages<WebStateRow>((cursor) => webHistoryPath(name, cursor))
  return (
    <Card title="Website over time" aside={rows === null ? undefined : `${formatCount(rows.length)} shown`}>
      {rows === null && error === null && <Loading what="the past of the website" />}
      {rows !== null && rows.length > 0 && <StateRows name={name} rows={rows} />}
      {rows !== null && rows.length === 0 && <EmptyState title="No website on record" />}
      {error !== null && <ErrorBox error={error} onRetry={retry} />}
      {next !== null && error === null && rows !== null && (
        <Button onClick={more} isBusy={isLoading}>
          Load more (1 call)
        </Button>
      )}
      {rows !== null && (
        <DataTools
          name={`${name}-web`}
          call={{ path: webHistoryPath(name, null), parameters: null }}
          json={rows}
          rows={() =>
            rows.map((row) => ({
              ...row,
              redirects_to: row.redirects_to ?? '',
              redirect_host: row.redirect_host ?? '',
            }))
          }
        />
      )}
    </Card>
  )
}

function StateRows({ name, rows }: { name: string; rows: readonly WebStateRow[] }) {
  return (
    <Table
      caption={`Website of ${name} over time`}
      isDense
      keyOf={({ first_seen }) => first_seen}
      rows={rows}
      columns={[
        { name: 'Website', cell: (row) => <What row={row} /> },
        { name: 'Certificate', cell: ({ ssl }) => CERTIFICATE[ssl] ?? ssl },
        { name: 'First seen', cell: ({ first_seen }) => <Day at={first_seen} /> },
        { name: 'Last seen', cell: ({ last_seen }) => <Day at={last_seen} /> },
      ]}
    />
  )
}

function What({ row }: { row: WebStateRow }) {
  const { has_website, redirects_to: target, redirect_host: host } = row
  const details = [
    row.redirect_to_https === 'yes' && 'http to https',
    row.redirect_to_www === 'yes' && 'to www',
    row.only_with_www === 'yes' && 'only with www',
    host !== null && host !== target && `ends at ${host}`,
  ].filter((detail) => detail !== false)
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
      {details.length > 0 && <div class="hint">{details.join(', ')}</div>}
    </>
  )
}
