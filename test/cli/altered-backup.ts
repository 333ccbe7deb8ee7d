/** Alters a file of a backup as another release would have made it: its manifest matches. */

import { createHash } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Runs `sql` in the file `name` of the backup in `folder`. */
export function alterBackup(folder: string, name: 'facts.db' | 'ledger.db', sql: string): void {
  const path = join(folder, name)
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
  const manifestPath = join(folder, 'manifest.json')
  const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'))
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex')
  const altered = { name, bytes: statSync(path).size, sha256 }
  manifest.files = manifest.files.map((file: { name: string }) => (file.name === name ? altered : file))
  writeFileSync(manifestPath, JSON.stringify(manifest))
}
