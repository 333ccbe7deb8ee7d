/** /domain/NAME/uses: the domains that use a host by NS, MX or CNAME records, or that have a TXT record, and when. */

import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { EmptyState, ErrorBox, Loading } from '../../../parts/notice.tsx'
import { formatCount } from '../../../parts/numbers.ts'
import { Table } from '../../../parts/table.tsx'
import { Day } from '../../../parts/time.tsx'
import { DataTools } from '../data/data-tools.tsx'
import { usePages } from '../data/pages.ts'
import { profilePath, type UseRow, usesPath } from '../data/responses.ts'

const USES: Record<string, string> = { NS: 'Name server', MX: 'Mail host', CNAME: 'Alias', TXT: 'TXT record' }

/** `text`: the parts of a TXT record as JSON; null: who uses the name as a host. */
export function Uses({ name, text }: { name: string; text: string | null }) {
  const { rows, next, isLoading, error, more, retry } = usePages<UseRow>((cursor) => usesPath(name, text, cursor))
  const title = text === null ? `Domains that use ${name}` : 'Domains with this TXT record'
  return (
    <Card title={title} aside={rows === null ? undefined : `${formatCount(rows.length)} shown`}>
      {text !== null && <p class="mono wrap">{text}</p>}
      {rows === null && error === null && <Loading what="who uses it" />}
      {rows !== null && rows.length === 0 && <EmptyState title="No domain uses it" />}
      {rows !== null && rows.length > 0 && <UseRows caption={title} rows={rows} />}
      {error !== null && <ErrorBox error={error} onRetry={retry} />}
      {next !== null && error === null && rows !== null && (
        <Button onClick={more} isBusy={isLoading}>
          Load more (1 call)
        </Button>
      )}
      {rows !== null && (
        <DataTools
          name={`${name}-uses`}
          call={text === null ? { path: `/dnsdb/v2/lookup/rdata/name/${name}`, parameters: null } : null}
          json={rows}
          rows={() => rows.map(({ priority, ...row }) => ({ ...row, priority: priority ?? '' }))}
        />
      )}
    </Card>
  )
}

function UseRows({ caption, rows }: { caption: string; rows: readonly UseRow[] }) {
  return (
    <Table
      caption={caption}
      isDense
      keyOf={({ target, type, priority, first_seen }) => `${target} ${type} ${priority} ${first_seen}`}
      rows={rows}
      columns={[
        { name: 'Domain', cell: ({ target }) => <a href={profilePath(target)}>{target}</a> },
        {
          name: 'As',
          cell: ({ type, priority }) => `${USES[type] ?? type}${priority === null ? '' : `, priority ${priority}`}`,
        },
        { name: 'First seen', cell: ({ first_seen }) => <Day at={first_seen} /> },
        { name: 'Last seen', cell: ({ last_seen }) => <Day at={last_seen} /> },
      ]}
    />
  )
}
