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

/** The error for a failed migration. `part`: facts or ledger. `message`: that of the engine. */
export function migrationFault(
  part: string,
  { name }: Pick<Migration, 'name'>,
  message: string,
  cause: unknown,
): StoreFault {
  const advice = 'it was rolled back, earlier ones stay applied: fix the cause, then run domaindex migrate again'
  return new StoreFault(`migration ${part}/${name} failed: ${message}; ${advice}`, { cause })
}

/**
 * The name of an expanding migration, which only adds. An older release, which lacks the file, still works on such a
 * store.
 */
const EXPANDING_MIGRATION = /\.expand\.sql$/

/** The error for a store of a development version. Releases from 0.1.0 on never change a migration. */
export function developmentStoreFault(reason: string): StoreFault {
  return new StoreFault(
    `${reason}: a development version before 0.1.0 made the store, and no release can migrate, copy or restore it. ` +
      'Run "domaindex build snapshot" of the version that made it, and import that file into a new store with ' +
      '"domaindex import --format names --no-registrations"',
  )
}

/**
 * The migrations to apply. A store may have later migrations than this release knows if each of them only adds. Throws
 * StoreFault if one of them does not, or if the store has a different history.
 */
export function unappliedMigrations(
  known: readonly Migration[],
  applied: readonly Omit<Migration, 'sql'>[],
): Migration[] {
  const last = known.at(-1)?.number ?? 0
  for (const { number, name, checksum } of applied) {
    const own = known.find((migration) => migration.number === number)
    if (own === undefined && !(number > last && EXPANDING_MIGRATION.test(name)))
      throw new StoreFault(`the store has migration ${name}, which this release does not know: run a newer domaindex`)
    if (own !== undefined && own.checksum !== checksum)
      throw developmentStoreFault(`the store's migration ${name} differs from this release's`)
  }
  return known.filter(({ number }) => !applied.some((migration) => migration.number === number))
}
