/**
 * Loaded into a process that is measured (--import): writes what it used to the file that WITNESS names, when it ends.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const path = process.env.WITNESS
if (path !== undefined && isMainThread) {
  process.on('exit', () => {
    const io = Object.fromEntries(
      readFileSync('/proc/self/io', 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(': ')),
    )
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
    const used = {
      peakBytes: maxRSS * 1024,
      cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
      written: Number(io.wchar),
      toDisk: Number(io.write_bytes),
    }
    writeFileSync(path, JSON.stringify(used))
  })
}
