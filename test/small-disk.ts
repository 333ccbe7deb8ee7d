/** A small disk for one test: a file system in memory, if mounting is permitted. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export type SmallDisk = {
  path: string
  /** Enlarges the disk, as if files had been removed. */
  grow(): void
  /** Writes a file that leaves `leaving` bytes free, as another user would. `clear` removes it. */
  fill(leaving?: number): void
  clear(): void
  /** Makes the disk read-only, or writable again. */
  setReadOnly(isReadOnly: boolean): void
}

export const NO_MOUNT = 'a file system cannot be mounted here'

/**
 * `size` is in the format of mount (`1m`). Returns null if mounting is not permitted: the test then skips with
 * NO_MOUNT.
 */
export function mountSmall(t: TestContext, size: string): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), 'domaindex-small-'))
  const mount = (...options: string[]) => execFileSync('/bin/mount', [...options, path], { stdio: 'ignore' })
  try {
    mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs')
    t.after(() => execFileSync('/bin/umount', ['--lazy', path]))
    return {
      path,
      grow: () => mount('-o', 'remount,size=64m'),
      fill: (leaving = 0) => fillUp(join(path, 'of-others'), leaving),
      clear: () => rmSync(join(path, 'of-others'), { force: true }),
      setReadOnly: (isReadOnly) => mount('-o', `remount,${isReadOnly ? 'ro' : 'rw'}`),
    }
  } catch {
    return null
  } finally {
    t.after(() => rmdirSync(path))
  }
}

function fillUp(file: string, leaving: number): void {
  const { bavail, bsize } = statfsSync(join(file, '..'))
  const pages = bavail - Math.ceil(leaving / bsize)
  writeFileSync(file, Buffer.alloc(Math.max(0, pages) * bsize), { flag: 'a' })
}
