/** Projects a measured store to more names: bytes of each table, machines, and times. Pure. */

/** A table of the store. `tableBytes` includes TOAST, the maps of free space and the free space itself. */
export type StoredTable = { name: string; rows: number; tableBytes: number; indexBytes: number }

/**
 * A store of `names` names, each probed three times. `created…`: the first import. `crawled…`: an import in which one
 * name in ten has changed, per name. The rates are those of one process.
 */
export type MeasuredStore = {
  names: number
  tables: readonly StoredTable[]
  createdPerSecond: number
  crawledPerSecond: number
  crawledLogBytes: number
  indexedPerSecond: number
  snapshotPerSecond: number
}

/** The numbers of names for which the store is projected. */
export const TARGETS = [10e6, 300e6, 1e9]

/** The tables that grow with the names and that Citus spreads over the workers, and the others that grow. */
export const GROWING_TABLES = {
  workers: [
    'crawl_state',
    'facts',
    'dns_state',
    'address_first_seen',
    'pending_page',
    'presence',
    'address_count',
    'redirect',
    'redirect_count',
    'certificate',
  ],
  coordinator: ['document', 'page_document', 'posting', 'document_frequency', 'inverse_block'],
} as const

/** Assumptions that are not measured. */
export const ASSUMPTIONS = {
  /** Superseded DNS states of a name, after some years. The measured store has fewer. */
  statesPerName: 5,
  /** Bytes of tables on one worker: half of a disk of 4 TB, so that there is space for the log, backups and shards that move. */
  workerBytes: 2e12,
  /** Days in which every name is probed once: the default of DOMAINDEX_CRAWL_MAX_INTERVAL. */
  crawlDays: 30,
  /** Probes per second of one core, from docs/performance.md (521 measured). */
  probesPerCore: 500,
}

type Growing = StoredTable & { place: 'workers' | 'coordinator'; bytesPerName: number }

/** The table of bytes: one row for each table, and two sums. Markdown. */
export function sizeTable(store: MeasuredStore): string {
  const tables = growingTables(store)
  const rows = tables.map(({ name, place, rows, tableBytes, indexBytes, bytesPerName }) => [
    `\`${name}\``,
    place,
    formatRatio(rowsPerName(name, rows / store.names)),
    [tableBytes, indexBytes].map((bytes) => (rows === 0 ? 0 : Math.round(bytes / rows))).join(' + '),
    formatBytesPerName(bytesPerName),
    ...TARGETS.map((names) => formatBytes(names * bytesPerName)),
  ])
  const sums = (['workers', 'coordinator'] as const).map((place) => {
    const bytesPerName = bytesOf(tables, place)
    const cells = TARGETS.map((names) => formatBytes(names * bytesPerName))
    return [`**all on the ${place}**`, '', '', '', formatBytesPerName(bytesPerName), ...cells]
  })
  const header = ['table', 'on the', 'rows per name', 'bytes per row: table + indexes', 'bytes per name']
  return markdownTable([...header, ...TARGETS.map(formatCount)], [...rows, ...sums])
}

/** The table of machines and times: one row for each quantity. Markdown. */
export function planTable(store: MeasuredStore): string {
  const tables = growingTables(store)
  const perWorker = bytesOf(tables, 'workers')
  const perCoordinator = bytesOf(tables, 'coordinator')
  const { workerBytes, crawlDays, probesPerCore } = ASSUMPTIONS
  const probesPerSecond = (names: number): number => names / crawlDays / 86_400
  const pages = store.tables.find(({ name }) => name === 'page_document')!.rows / store.names
  const quantities: [string, (names: number) => string][] = [
    ['data on the workers', (names) => formatBytes(names * perWorker)],
    ['workers with at most 2 TB of data', (names) => String(Math.ceil((names * perWorker) / workerBytes))],
    ['data on the coordinator', (names) => formatBytes(names * perCoordinator)],
    ['probes per second, each name within 30 days', (names) => formatRatio(probesPerSecond(names))],
    ['cores of crawlers', (names) => String(Math.ceil(probesPerSecond(names) / probesPerCore))],
    [
      'share of one importing process that the crawl keeps busy',
      (names) => formatPercent(probesPerSecond(names) / store.crawledPerSecond),
    ],
    ['write-ahead log of the crawl per day', (names) => formatBytes((names / crawlDays) * store.crawledLogBytes)],
    ['nightly snapshots, both editions', (names) => formatHours(names / store.snapshotPerSecond)],
    ['first import by one process', (names) => formatHours(names / store.createdPerSecond)],
    ['first index of /similar', (names) => formatHours((names * pages) / store.indexedPerSecond)],
  ]
  const rows = quantities.map(([name, of]) => [name, ...TARGETS.map(of)])
  return markdownTable(['', ...TARGETS.map(formatCount)], rows)
}

function growingTables({ names, tables }: MeasuredStore): Growing[] {
  return (['workers', 'coordinator'] as const).flatMap((place) =>
    GROWING_TABLES[place].map((name) => {
      const table = tables.find((each) => each.name === name)
      if (table === undefined) throw new Error(`the store has no table ${name}`)
      const bytesPerRow = table.rows === 0 ? 0 : (table.tableBytes + table.indexBytes) / table.rows
      return { ...table, place, bytesPerName: bytesPerRow * rowsPerName(name, table.rows / names) }
    }),
  )
}

/** History grows with time, not with names, so its rows are an assumption. */
function rowsPerName(table: string, measured: number): number {
  return table === 'dns_state' ? ASSUMPTIONS.statesPerName : measured
}

function bytesOf(tables: readonly Growing[], place: Growing['place']): number {
  return tables.filter((each) => each.place === place).reduce((sum, each) => sum + each.bytesPerName, 0)
}

function formatBytesPerName(bytes: number): string {
  return bytes < 1 ? '< 1' : Math.round(bytes).toLocaleString('en')
}

function formatBytes(bytes: number): string {
  if (bytes < 1e9) return '< 1 GB'
  return bytes < 10e12 ? `${Math.round(bytes / 1e9).toLocaleString('en')} GB` : `${(bytes / 1e12).toFixed(1)} TB`
}

function formatCount(names: number): string {
  return names < 1e9 ? `${names / 1e6} million` : `${names / 1e9} billion`
}

function formatRatio(value: number): string {
  return value >= 10 ? Math.round(value).toLocaleString('en') : value.toFixed(2)
}

function formatPercent(share: number): string {
  return share < 0.01 ? '< 1 %' : `${Math.round(100 * share)} %`
}

function formatHours(seconds: number): string {
  const hours = seconds / 3_600
  if (hours < 1) return `${Math.ceil(seconds / 60)} min`
  return hours < 48 ? `${hours.toFixed(1)} h` : `${(hours / 24).toFixed(1)} days`
}

function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n')
}
