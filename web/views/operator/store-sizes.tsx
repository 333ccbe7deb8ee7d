/** The size of the store, and of its tables when they were last measured. */

import { Card, Facts } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/notice.tsx'
import { formatBytes } from '../../parts/numbers.ts'
import { Table } from '../../parts/table.tsx'
import { formatUtc, parseInstant } from '../../parts/time.tsx'

export type StoreSizes = {
  bytes: number
  write_ahead_log_bytes: number
  /** When the tables were measured. */
  measured: string | null
  tables: { name: string; bytes: number }[]
}

/** The tables that are shown; the others are small. */
const MAX_TABLES = 20

export function StoreCard({ store }: { store: StoreSizes }) {
  const { bytes, write_ahead_log_bytes: log, measured, tables } = store
  return (
    <Card title="Store" aside={measured === null ? undefined : `tables of ${formatUtc(parseInstant(measured))}`}>
      <Facts
        rows={[
          ['Facts', formatBytes(bytes)],
          ['Write-ahead log', formatBytes(log)],
        ]}
      />
      {measured === null ? (
        <EmptyState title="The tables are not measured">domaindex sizes measures them.</EmptyState>
      ) : (
        <Table
          caption="Tables with their indexes, the largest first"
          isDense
          keyOf={({ name }) => name}
          rows={tables.slice(0, MAX_TABLES)}
          columns={[
            { name: 'Table', cell: ({ name }) => <span class="mono wrap">{name}</span> },
            { name: 'Size', isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
          ]}
        />
      )}
    </Card>
  )
}
