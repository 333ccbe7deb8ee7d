/** The migrations of an engine: numbered SQL files of a folder, and which of them a store lacks. */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { StoreFault } from './fault.ts'

export type Migration = { number: number; name: string; checksum: string; sql: string }

/** The migrations of a folder, ascending. */
export function migrations(folder: URL): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{4}-.*\.sql$/.test(file))
    .sort()
    .map((file) => {
      const sql = readFileSync(new URL(file, folder), 'utf8')
      return {
        number: Number(file.slice(0, 4)),
        name: file,
        checksum: createHash('sha256').update(sql).digest('hex'),
        sql,
      }
    })
}

/** Those that are not applied. Throws StoreFault where the store is newer than this release, or has another past. */
export function unapplied(known: readonly Migration[], applied: readonly Omit<Migration, 'sql'>[]): Migration[] {
  for (const { number, name, checksum } of applied) {
    const ours = known.find((migration) => migration.number === number)
    if (!ours)
      throw new StoreFault(`the store has migration ${name}, which this release does not know: run a newer domaindex`)
    if (ours.checksum !== checksum)
      throw new StoreFault(
        `the store's migration ${name} differs from this release's: run the release that made the store`,
      )
  }
  return known.filter(({ number }) => !applied.some((migration) => migration.number === number))
}
