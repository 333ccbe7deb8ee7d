/** /domain/NAME/uses: the domains that use a host by NS, MX or CNAME records, or that have a TXT record, and when. */

import { profilePath, usesPath } from '../../../client/paths.ts'
import { EmptyState } from '../../../parts/notice.tsx'
import { Table } from '../../../parts/table.tsx'
import { PagedCard, SEEN_COLUMNS } from '../data/paged-rows.tsx'
import { usePages } from '../data/pages.ts'
import type { UseRow } from '../data/responses.ts'

const USES: Record<string, string> = { NS: 'Name server', MX: 'Mail host', CNAME: 'Alias', TXT: 'TXT record' }

/** `text`: the parts of a TXT record as JSON; null: who uses the name as a host. */
export function Uses({ name, text }: { name: string; text: string | null }) {
  const pages = usePages<UseRow>((cursor) => usesPath(name, text, cursor))
  const title = text === null ? `Domains that use ${name}` : 'Domains with this TXT record'
  return (
    <PagedCard
      title={title}
      about={text !== null && <p class="mono wrap">{text}</p>}
      pages={pages}
      what="who uses it"
      empty={<EmptyState title="No domain uses it" />}
      name={`${name}-uses`}
      call={text === null ? { path: `/dnsdb/v2/lookup/rdata/name/${name}`, parameters: null } : null}
    >
      {(rows) => <UseRows caption={title} rows={rows} />}
    </PagedCard>
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
        ...SEEN_COLUMNS,
      ]}
    />
  )
}
