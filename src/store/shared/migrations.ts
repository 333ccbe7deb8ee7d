/** The migrations of an engine: numbered SQL files of a folder, and which of them a store lacks. */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { StoreFault } from '../port/fault.ts'

export type Migration = { number: number; name: string; checksum: string; sql: string }

/** The migrations of a folder, ascending. */
export function readMigrations(folder: URL): Migration[] {
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

/** What a migration that failed is told as. `part`: facts or ledger; `words`: what the engine says. */
export function migrationFault(
  part: string,
  { name }: Pick<Migration, 'name'>,
  message: string,
  cause: unknown,
): StoreFault {
  const advice = 'nothing of it was kept, and those before it stay: mend that, and run domaindex migrate again'
  return new StoreFault(`migration ${part}/${name} failed: ${message}; ${advice}`, { cause })
}

/** How the file of a migration ends that only adds: an older release, which lacks the file, goes on working on such a store. */
const EXPANDING_MIGRATION = /\.expand\.sql$/

/**
 * Those that are not applied. A store may have later migrations than this release knows, as long as each of them only adds.
 * Throws StoreFault if one of them does not, or if the store has another past.
 */
export function unappliedMigrations(
  known: readonly Migration[],
  applied: readonly Omit<Migration, 'sql'>[],
): Migration[] {
  const last = known.at(-1)?.number ?? 0
  for (const { number, name, checksum } of applied) {
    const ours = known.find((migration) => migration.number === number)
    if (ours === undefined && !(number > last && EXPANDING_MIGRATION.test(name)))
      throw new StoreFault(`the store has migration ${name}, which this release does not know: run a newer domaindex`)
    if (ours !== undefined && ours.checksum !== checksum)
      throw new StoreFault(
        `the store's migration ${name} differs from this release's: run the release that made the store`,
      )
  }
  return known.filter(({ number }) => !applied.some((migration) => migration.number === number))
}
