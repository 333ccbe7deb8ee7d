/**
 * Loaded into a measured process with --import: when it ends, writes the resources that it used to the file USAGE_FILE.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const path = process.env.USAGE_FILE
if (path !== undefined && isMainThread) {
  process.on('exit', () => {
    const io = Object.fromEntries(
      readFileSync('/proc/self/io', 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(': ')),
    )
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
    const usage = {
      peakBytes: maxRSS * 1024,
      cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
      bytesWritten: Number(io.wchar),
      bytesToDisk: Number(io.write_bytes),
    }
    writeFileSync(path, JSON.stringify(usage))
  })
}
