/** Helpers of the indexer tests: a world for each, pages to fill it with, and statements on its file. */

import { DatabaseSync } from 'node:sqlite'
import { type Pages, World } from './world.ts'

export async function inWorld(operation: (world: World) => Promise<void>): Promise<void> {
  const world = await World.open()
  try {
    await operation(world)
  } finally {
    await world.close()
  }
}

/** Runs a statement on the store's file. */
export function found({ opened }: World, sql: string): unknown[] {
  const database = new DatabaseSync(opened.url.slice('sqlite:'.length), { readOnly: true })
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

/** The unfinished work that an indexer must not leave behind. */
export const UNFINISHED = `select 'segment', number from segment where state <> 'published'
  union all select 'posting', segment from posting where segment not in (select number from segment where state = 'published')
  union all select 'document_frequency', segment from document_frequency where segment not in (select number from segment where state = 'published')`

/** Topics that pages share, and a unique word for each page. */
export function pagesFrom(from: number, count: number): Pages {
  const range = Array.from({ length: count }, (_, at) => from + at)
  return Object.fromEntries(
    range.map((at) => [`page${at}.example`, `subject${at % 7} theme${at % 5} ${at % 3 === 0 ? 'twin' : `own${at}`}`]),
  )
}
