/** Starts `domaindex serve` and the yardstick servers, and sends them requests. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  domaindexCommand,
  type ProcessOptions,
  ROOT,
  type RunningProcess,
  runProcess,
  startProcess,
  waitForOutput,
} from '../measure/process.ts'
import type { StoreFiles } from '../world/store.ts'
import type { OpenLoad, OpenLoadResult } from './open-loop.ts'

/**
 * The cores of the servers, of the load and of their database: the first two, with the database on that of the servers,
 * or those that BENCH_CORES names ("2,3" or "1,2,3").
 */
export const [SERVER_CORE = 0, LOAD_CORE = 1, DATABASE_CORE = SERVER_CORE] = (process.env.BENCH_CORES ?? '0,1')
  .split(',')
  .map(Number)

export type MeasuredServer = { running: RunningProcess; origin: string }

const SETTINGS = {
  DOMAINDEX_PORT: '0',
  DOMAINDEX_ADMIN: '127.0.0.1:0',
  DOMAINDEX_JOB_TIMES: 'off',
  DOMAINDEX_INDEX: 'off',
  NODE_ENV: 'production',
}

/** Starts the server on one core, by default with one worker. Its access log goes to a file beside the store. */
export async function startDomaindex(
  { env, facts }: StoreFiles,
  { workers = 1, hasOwnGroup = false }: { workers?: number; hasOwnGroup?: boolean } = {},
): Promise<MeasuredServer> {
  const settings = { ...env, ...SETTINGS, DOMAINDEX_WORKERS: String(workers) }
  const options: ProcessOptions = { core: SERVER_CORE, env: settings, outputFile: `${facts}.log`, hasOwnGroup }
  return waitForOrigin(startProcess(domaindexCommand('serve'), options))
}

/** Starts a yardstick of bench/serve on the same core. */
export function startYardstick(
  name: string,
  env: Record<string, string>,
  options: ProcessOptions = {},
): Promise<MeasuredServer> {
  const command = [process.execPath, join(ROOT, 'bench/serve', `${name}.ts`)]
  return waitForOrigin(
    startProcess(command, { core: SERVER_CORE, ...options, env: { ...env, NODE_ENV: 'production' } }),
  )
}

async function waitForOrigin(running: RunningProcess): Promise<MeasuredServer> {
  const [origin] = await waitForOutput(running, /http:\/\/[\d.]+:\d+/)
  return { running, origin }
}

/** Posts JSON. Returns the status and the body as text. */
export async function postJson(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: response.status, text: await response.text() }
}

/** Sends requests at a constant rate from the other core. Throws if a response is wrong. */
export async function runOpenLoad(folder: string, load: OpenLoad): Promise<OpenLoadResult> {
  const path = join(folder, 'load.json')
  writeFileSync(path, JSON.stringify(load))
  const output = await runProcess([process.execPath, join(ROOT, 'bench/load/open-loop.ts'), path], { core: LOAD_CORE })
  const result = JSON.parse(output) as OpenLoadResult
  if (result.failures > 0) throw new Error(`${result.failures} of ${result.sent} responses were wrong`)
  return result
}
