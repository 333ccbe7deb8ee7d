/** How fast pages come into the index, and what they take of room there. */

import { atLeast, atMost, figure, type Line } from '../measure/report.ts'
import { made, PARKED, twins } from './sample.ts'
import { bringIn, fill, type Place, type Spent } from './store.ts'

/** What a table holds, in words. */
const HOLDS: Record<string, string> = {
  document: 'vectors',
  posting: 'postings',
  document_frequency: 'frequencies',
  page_document: 'names',
}

/** Brings all pages in. */
export async function indexLines(place: Place, count: number): Promise<Line[]> {
  await fill(place.store, made(count))
  const own = await bringIn(place)
  await fill(place.store, twins())
  const same = await bringIn(place)
  const segments = await place.store.similar.segments()
  const wholly = ({ cpu, served }: Spent): number => cpu + served
  const withServer = (filed: number, spent: Spent): Line[] =>
    place.served ? [figure("  the server's time counted too", filed / wholly(spent), '1/s a core')] : []
  return [
    atLeast('pages indexed, each with a text of its own but for 3 %', own.filed / own.spent.cpu, '1/s a core', 2000),
    ...withServer(own.filed, own.spent),
    figure('the same by the clock', own.filed / own.spent.wall, '1/s'),
    figure('100,000 parked pages of one text', same.filed / same.spent.cpu, '1/s a core'),
    ...withServer(same.filed, same.spent),
    figure('segments afterwards', segments.length, ''),
  ]
}

/** Of each table, and of all of them without the names of the parked pages. */
export async function sizeLines(place: Place, count: number): Promise<Line[]> {
  const { tables, free } = await place.sizes()
  const all = Object.values(tables).reduce((sum, bytes) => sum + bytes, 0)
  const ofTwins = tables.page_document! * (PARKED / (PARKED + count))
  const each = Object.entries(tables).map(([table, bytes]) =>
    figure(
      HOLDS[table] ?? `table ${table}`,
      bytes / (table === 'page_document' ? count + PARKED : count),
      'bytes a page',
    ),
  )
  return [
    ...each,
    atMost('index and vectors', (all - ofTwins) / count, 'bytes a page', 1024),
    ...(free === null ? [] : freeLines(free / count, (all - ofTwins) / count)),
  ]
}

/** Merges leave room behind that later ones fill: of few pages much of it. */
function freeLines(free: number, all: number): Line[] {
  return [
    figure('  free in it, for rows to come', free, 'bytes a page'),
    figure('  without what is free', all - free, 'bytes a page'),
  ]
}
