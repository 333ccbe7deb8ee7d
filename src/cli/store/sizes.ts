/** `domaindex sizes`: what an installation takes, how it grows, and when its disks will be full. */

import type { Command } from 'commander'
import type { Settings } from '../../config/settings.ts'
import { openFileStore } from '../../jobs/file-store/open.ts'
import { measurePlaces } from '../../jobs/place-sizes.ts'
import { disksOf } from '../../server/disks.ts'
import type { Store, TableSize } from '../../store/port/store.ts'
import { diskSpaceAt } from '../../store/shared/disk.ts'
import {
  growthPerDay,
  type PlaceSizes,
  readSizeHistory,
  SIZED_PLACES,
  type SizedPlace,
  type SizesOfDay,
} from '../../store/size-history.ts'
import { measureTables } from '../../store/table-sizes.ts'
import { addDays, type Day, dayOf, utcText } from '../../values/time.ts'
import { loadExistingStoreSettings, withStore } from '../program/existing-store.ts'
import { alignedColumns, printResult } from '../program/output.ts'

const SIZES_HELP = `
The operator's page shows the last measurement of the tables. The store may be in use. On SQLite the
command reads the whole file, about 200 MB per second; on PostgreSQL it takes moments, and numbers of
rows are estimates.

The job prune records the sizes once a day. From seven days on, the growth is the average of the last
30 days, and a disk is full when it has grown by its free space. The disk of a PostgreSQL server and a
place in S3 are not known.

Exit codes: 0 the tables were measured, 1 it failed, 2 wrong usage.`

/** A disk with what is on it. `daysLeft` and `fullOn` are null if it does not grow, or if the growth is unknown. */
type DiskForecast = {
  places: SizedPlace[]
  free: number
  total: number
  growth: number | null
  daysLeft: number | null
  fullOn: Day | null
}

export function defineSizes(command: Command): void {
  command
    .option(
      '--json',
      'print one JSON object: measured (a time), tables (name, bytes, index_bytes, rows), names, places, unused_bytes, ' +
        'recorded_days, disks',
    )
    .addHelpText('after', SIZES_HELP)
    .action(async ({ json }: { json?: true }) => {
      const settings = await loadExistingStoreSettings()
      await withStore(settings, 'write', (store) => printSizes(settings, store, json))
    })
}

async function printSizes(settings: Settings, store: Store, json: boolean | undefined): Promise<void> {
  const { at, tables } = await measureTables(store)
  const { zones, inbox } = settings
  const places = await measurePlaces({ store, fileStore: await openFileStore(settings), zones, inbox })
  const { unused } = await store.maintenance.sizes()
  const history = await readSizeHistory(store.maintenance)
  const disks = await forecastDisks(settings, history, dayOf(at))
  const names = tables.find(({ name }) => name === 'crawl_state')?.rows ?? null
  const result = {
    measured: utcText(at),
    tables: tables.map(({ name, bytes, indexes, rows }) => ({ name, bytes, index_bytes: indexes, rows })),
    names,
    places: SIZED_PLACES.map((place) => {
      return { place, bytes: places[place], growth_per_day: rounded(growthPerDay(history, [place])) }
    }),
    unused_bytes: unused,
    recorded_days: history.length,
    disks: disks.map(({ places, free, total, growth, daysLeft, fullOn }) => {
      return { places, free, total, growth_per_day: rounded(growth), days_left: daysLeft, full_on: fullOn }
    }),
  }
  const lines = [...tableLines(tables, names), '', ...placeLines(places, unused, history), '', ...diskLines(disks)]
  printResult(json, result, lines)
}

/** A store with its ledger on another disk counts for both. */
async function forecastDisks(settings: Settings, history: readonly SizesOfDay[], today: Day): Promise<DiskForecast[]> {
  const disks = await disksOf(settings, SIZED_PLACES)
  const forecasts = disks.map(async ({ path, places }): Promise<DiskForecast | null> => {
    const space = await diskSpaceAt(path)
    return space && { places, ...space, ...forecastOf(space.free, growthPerDay(history, places), today) }
  })
  return (await Promise.all(forecasts)).filter((forecast) => forecast !== null)
}

/** Days after which a forecast says nothing useful. */
const MAX_FORECAST_DAYS = 36_500

function forecastOf(
  free: number,
  growth: number | null,
  today: Day,
): Pick<DiskForecast, 'growth' | 'daysLeft' | 'fullOn'> {
  const days = growth === null || growth <= 0 ? null : Math.floor(free / growth)
  if (days === null || days > MAX_FORECAST_DAYS) return { growth, daysLeft: null, fullOn: null }
  return { growth, daysLeft: days, fullOn: addDays(today, days) }
}

const rounded = (bytes: number | null): number | null => (bytes === null ? null : Math.round(bytes))
const bytesText = (bytes: number): string => `${Math.round(bytes).toLocaleString('en-US')} bytes`

function tableLines(tables: readonly TableSize[], names: number | null): string[] {
  const total = (key: 'bytes' | 'indexes'): number => tables.reduce((sum, table) => sum + table[key], 0)
  const all = { name: 'total', bytes: total('bytes'), indexes: total('indexes'), rows: null }
  const rows = [...tables, all].map(({ name, bytes, indexes, rows }) => [
    name,
    bytesText(bytes),
    bytesText(indexes),
    rows?.toLocaleString('en-US') ?? '',
    names ? (bytes / names).toFixed(1) : '',
  ])
  return rightAligned([['table', 'size', 'of it indexes', 'rows', 'bytes per name'], ...rows])
}

function placeLines(places: PlaceSizes, unused: number | null, history: readonly SizesOfDay[]): string[] {
  const rows = SIZED_PLACES.map((place) => [
    place,
    bytesText(places[place]),
    growthText(growthPerDay(history, [place])),
  ])
  const unusedLine = unused === null ? [] : [`${bytesText(unused)} of the store are free for new rows`]
  return [...rightAligned([['place', 'size', 'growth'], ...rows]), ...unusedLine]
}

function growthText(growth: number | null): string {
  return growth === null ? 'unknown' : `${bytesText(growth)} per day`
}

function diskLines(disks: readonly DiskForecast[]): string[] {
  return disks.map(({ places, free, growth, fullOn }) => {
    const when =
      growth === null
        ? 'its growth is unknown: sizes of seven days are needed, and the job prune records one a day'
        : fullOn === null
          ? 'it does not fill up at the rate of the last 30 days'
          : `full on ${fullOn} at ${bytesText(growth)} per day`
    return `disk of ${places.join(', ')}: ${bytesText(free)} free, ${when}`
  })
}

/** Aligns the columns after the first one at their right. */
function rightAligned(rows: readonly string[][]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return alignedColumns(
    rows.map((row) => row.map((cell, column) => (column === 0 ? cell : cell.padStart(widths[column]!)))),
  )
}
