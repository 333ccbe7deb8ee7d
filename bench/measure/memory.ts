/** Bounds on the memory of measured processes, their page cache included, and cold starts. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `folder`: the cgroup that a process enters. */
export type Bound = { folder: string; remove(): void }

const KINDS = [
  { root: '/sys/fs/cgroup/memory', line: /^\d+:(?:[\w,]+,)?memory(?:,[\w,]+)?:(.*)$/m, limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', line: /^0::(.*)$/m, limit: 'memory.max' },
]

/** A memory cgroup below that of this process; null where none may be made. */
export function memoryBound(bytes: number): Bound | null {
  const own = readFileSync('/proc/self/cgroup', 'utf8')
  for (const { root, line, limit } of KINDS) {
    const folder = join(root, line.exec(own)?.[1] ?? '', `domaindex-bench-${process.pid}`)
    try {
      mkdirSync(folder)
      if (existsSync(join(folder, limit))) {
        writeFileSync(join(folder, limit), String(bytes))
        return { folder, remove: () => rmdirSync(folder) }
      }
      rmdirSync(folder)
    } catch {
      // not permitted, or of the other kind
    }
  }
  return null
}

/**
 * Drops a file from the page cache (dd says POSIX_FADV_DONTNEED for the whole of it), after what is unwritten was
 * written.
 */
export function dropFromCache(path: string): void {
  if (!existsSync(path)) return
  execFileSync('sync', [path])
  execFileSync('dd', [`if=${path}`, 'iflag=nocache', 'count=0', 'status=none'])
}
