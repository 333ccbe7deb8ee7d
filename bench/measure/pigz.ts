/** pigz, the yardstick of compression. */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { timeWork } from './processor-time.ts'

/** One compression: its duration, its processor time and the size of the output. */
export type GzipRun = { seconds: number; cpuSeconds: number; bytes: number }

/** Ends the process if pigz is not installed. */
export function requirePigz(): void {
  if (spawnSync('pigz', ['--version']).status === 0) return
  console.error('this bench needs pigz: apt-get install pigz')
  process.exit(1)
}

/** Compresses a file at level 6 and discards the output. */
export async function runPigz(path: string, threads: number): Promise<GzipRun> {
  const { result: bytes, ...time } = await timeWork(async () => {
    const child = spawn('pigz', [`-p${threads}`, '-6', '-c', path], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    const count = await countBytes(child.stdout)
    await exited
    return count
  })
  return { ...time, bytes }
}

export async function countBytes(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0
  for await (const chunk of chunks) bytes += chunk.length
  return bytes
}
