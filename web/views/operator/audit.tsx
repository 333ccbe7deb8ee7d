/** /operator/audit: who changed accounts, tokens and secrets, newest change first. */

import { useFresh } from '../../client/loaded.ts'
import { pageAddress } from '../../client/router.ts'
import { useSignal } from '../../client/signal.ts'
import { LinkButton } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { EmptyState, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { formatUtc, parseInstant } from '../../parts/time.tsx'

type AuditEntry = {
  id: number
  time: string
  actor: string
  origin: string
  action: string
  account: number | null
  email: string | null
  details: Record<string, unknown>
}
type AuditBody = { entries: AuditEntry[]; next: number | null }

export function AuditPage() {
  const { query } = useSignal(pageAddress)
  const before = /^\d+$/.exec(query.get('before') ?? '')?.[0]
  const { loaded, reload } = useFresh<AuditBody>(`/admin/v1/audit${before === undefined ? '' : `?before=${before}`}`)
  return (
    <Card title="Changes, newest first">
      <LoadedView loaded={loaded} what="the audit log" onRetry={() => void reload()}>
        {(body) => <AuditTable {...body} />}
      </LoadedView>
    </Card>
  )
}

function AuditTable({ entries, next }: AuditBody) {
  if (entries.length === 0) return <EmptyState title="No changes">Nothing was changed before this.</EmptyState>
  return (
    <>
      <Table
        caption="Audit log"
        stacks
        isDense
        keyOf={({ id }) => id}
        rows={entries}
        columns={[
          { name: 'Time', cell: ({ time }) => formatUtc(parseInstant(time)) },
          { name: 'Change', cell: ({ action }) => <span class="mono">{action}</span> },
          { name: 'Account', cell: ({ email }) => <span class="wrap">{email ?? 'the installation'}</span> },
          { name: 'By', cell: ({ actor, origin }) => <span class="wrap">{`${actor}, ${origin}`}</span> },
          { name: 'Details', cell: ({ details }) => <span class="mono wrap">{detailsText(details)}</span> },
        ]}
      />
      {next !== null && (
        <p class="card-actions">
          <LinkButton href={`/operator/audit?before=${next}`}>Older changes</LinkButton>
        </p>
      )}
    </>
  )
}

function detailsText(details: AuditEntry['details']): string {
  return Object.entries(details)
    .map(([key, value]) => `${key} ${Array.isArray(value) ? value.join(' ') || 'none' : String(value ?? 'none')}`)
    .join(', ')
}
