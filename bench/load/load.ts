/** Closed load on a server from the other core: wrk where it is installed, else autocannon. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { has, ROOT, run } from '../measure/process.ts'
import { LOAD_CORE } from './server.ts'

/** `bodies` are asked in turn by `connections` that each wait for their answer. */
export type Load = { url: string; bodies: readonly unknown[]; connections: number; seconds: number; gzip?: boolean }
/** Times in milliseconds, `bytes` with heads. */
export type Loaded = {
  requests: number
  seconds: number
  bytes: number
  failures: number
  mean: number
  p50: number
  p99: number
}

let made = 0

export const LOADER = has('wrk') ? 'wrk, one thread' : 'autocannon'

/** Loads a server; an answer that is not 2xx, or none, is a failure of the bench. */
export async function load(folder: string, given: Load): Promise<Loaded & { rate: number }> {
  const { url, bodies, connections, seconds, gzip } = given
  const BODIES = join(folder, `bodies-${made++}.jsonl`)
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
  const command = has('wrk') ? wrk : [process.execPath, join(ROOT, 'bench/load/autocannon.ts')]
  const said = await run(command, { core: LOAD_CORE, env })
  const loaded = JSON.parse(/^\{.*\}$/m.exec(said)![0]) as Loaded
  if (loaded.failures > 0 || loaded.requests === 0) throw new Error(`${url}: ${JSON.stringify(loaded)}`)
  return { ...loaded, rate: loaded.requests / loaded.seconds }
}
