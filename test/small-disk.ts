/** A small disk of its own for a test: a file system in memory, where mounting is permitted. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export type SmallDisk = {
  path: string
  /** Makes it larger, as if something had been removed. */
  grow(): void
  /** Writes a file of other people, which leaves so many bytes free; what they take is given back by `clear`. */
  fill(leaving?: number): void
  clear(): void
  /** Lets nobody write to it any more, or everybody again. */
  setReadOnly(isReadOnly: boolean): void
}

export const NO_MOUNT = 'a file system cannot be mounted here'

/** `size` as mount takes it (`1m`); null where mounting is refused: the test is to be skipped with NO_MOUNT. */
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
