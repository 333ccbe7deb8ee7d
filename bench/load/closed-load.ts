/** Closed-loop load on a server from the other core, with wrk if it is installed and with autocannon otherwise. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isInstalled, ROOT, type RunningProcess, runProcess } from '../measure/process.ts'
import { treeCpuSeconds } from '../measure/processor-time.ts'
import { LOAD_CORE } from './server.ts'

/** `connections` clients send the `bodies` in turn. Each waits for its response. */
export type ClosedLoad = {
  url: string
  bodies: readonly unknown[]
  connections: number
  seconds: number
  gzip?: boolean
  /** The servers whose processor time is measured. */
  servers?: readonly { running: RunningProcess }[]
}
/** Times in milliseconds. `bytes` includes the heads. */
export type ClosedLoadResult = {
  requests: number
  seconds: number
  bytes: number
  failures: number
  mean: number
  p50: number
  p99: number
}

let fileCount = 0

export const LOAD_TOOL = isInstalled('wrk') ? 'wrk, one thread' : 'autocannon'

/** `cpuMicroseconds`: the processor time of the servers per response. */
export type MeasuredLoad = ClosedLoadResult & { rate: number; cpuMicroseconds: number }

/** Loads a server. Throws if a response is missing or its status is not 2xx. */
export async function runClosedLoad(folder: string, options: ClosedLoad): Promise<MeasuredLoad> {
  const { url, bodies, connections, seconds, gzip, servers = [] } = options
  const BODIES = join(folder, `bodies-${fileCount++}.jsonl`)
  writeFileSync(BODIES, `${bodies.map((body) => JSON.stringify(body)).join('\n')}\n`)
  const env = { BODIES, GZIP: gzip ? '1' : '', URL: url, CONNECTIONS: String(connections), SECONDS: String(seconds) }
  const wrk = [
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '30s',
    '-s',
    join(ROOT, 'bench/load/load.lua'),
    url,
  ]
  const command = isInstalled('wrk') ? wrk : [process.execPath, join(ROOT, 'bench/load/autocannon.ts')]
  const cpuSeconds = (): number => servers.reduce((sum, { running }) => sum + treeCpuSeconds(running.child.pid!), 0)
  const before = cpuSeconds()
  const output = await runProcess(command, { core: LOAD_CORE, env })
  const used = cpuSeconds() - before
  const result = JSON.parse(/^\{.*\}$/m.exec(output)![0]) as ClosedLoadResult
  if (result.failures > 0 || result.requests === 0) throw new Error(`${url}: ${JSON.stringify(result)}`)
  return { ...result, rate: result.requests / result.seconds, cpuMicroseconds: (1e6 * used) / result.requests }
}
