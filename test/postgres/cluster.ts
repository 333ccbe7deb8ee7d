/** An empty PostgreSQL cluster: initdb creates one per version, which is cached beside the modules and copied. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const KEPT = fileURLToPath(new URL('../../node_modules/.cache/postgres/', import.meta.url))
const OPTIONS = ['-U', 'domaindex', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']

export type Owner = { uid?: number; gid?: number }

/** Creates an empty cluster at `data`, whose folder belongs to the owner. Throws if initdb fails. */
export function takeCluster(initdb: string, data: string, owner: Owner): void {
  const manifest = readFileSync(join(dirname(initdb), '../../package.json'), 'utf8')
  const which = createHash('sha256')
    .update(JSON.stringify([manifest, OPTIONS]))
    .digest('hex')
    .slice(0, 16)
  const kept = join(KEPT, which)
  if (existsSync(kept)) {
    copy(kept, data, owner)
    return
  }
  const made = spawnSync(initdb, ['-D', data, ...OPTIONS], { ...owner, cwd: dirname(data), encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`initdb: ${made.stdout}${made.stderr}`)
  keep(data, kept)
}

/** If several processes create one at once, the first is kept. */
function keep(data: string, kept: string): void {
  mkdirSync(KEPT, { recursive: true })
  const folder = mkdtempSync(`${kept}-`)
  try {
    run('cp', '-R', data, join(folder, 'data'))
    renameSync(join(folder, 'data'), kept)
  } catch (error) {
    if (!existsSync(kept)) throw error
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Copies with `cp` and `chown`, which take a tenth of the time of Node for the thousand files. */
function copy(from: string, to: string, { uid, gid }: Owner): void {
  run('cp', '-R', from, to)
  if (uid !== undefined) run('chown', '-R', `${uid}:${gid}`, to)
}

function run(program: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr}`)
}
