/** Loaded into a command with --import: writes the peak of its resident memory in bytes to the file MEMORY_FILE. */

import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

// not resourceUsage(), which is at least the memory of the process that started this one
const path = process.env.MEMORY_FILE
if (path !== undefined && isMainThread)
  process.on('exit', () => {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))!
    writeFileSync(path, String(Number(kilobytes) * 1024))
  })
