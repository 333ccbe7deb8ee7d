/** Memory limits of measured processes, page cache included, and cold starts. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `folder`: the folder of the cgroup that a process joins. */
export type MemoryLimit = { folder: string; remove(): void }

const CGROUP_VERSIONS = [
  { root: '/sys/fs/cgroup/memory', line: /^\d+:(?:[\w,]+,)?memory(?:,[\w,]+)?:(.*)$/m, limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', line: /^0::(.*)$/m, limit: 'memory.max' },
]

/** Creates a memory cgroup below the one of this process. Returns null if that is not permitted. */
export function createMemoryLimit(bytes: number): MemoryLimit | null {
  const ownCgroups = readFileSync('/proc/self/cgroup', 'utf8')
  for (const { root, line, limit } of CGROUP_VERSIONS) {
    const folder = join(root, line.exec(ownCgroups)?.[1] ?? '', `domaindex-bench-${process.pid}`)
    try {
      mkdirSync(folder)
      if (existsSync(join(folder, limit))) {
        writeFileSync(join(folder, limit), String(bytes))
        return { folder, remove: () => rmdirSync(folder) }
      }
      rmdirSync(folder)
    } catch {
      // not permitted, or the other cgroup version
    }
  }
  return null
}

/**
 * Evicts a file from the page cache, after its unwritten pages are written. `dd` calls POSIX_FADV_DONTNEED for the
 * whole file.
 */
export function evictFromPageCache(path: string): void {
  if (!existsSync(path)) return
  execFileSync('sync', [path])
  execFileSync('dd', [`if=${path}`, 'iflag=nocache', 'count=0', 'status=none'])
}
