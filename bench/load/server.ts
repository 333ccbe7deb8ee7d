/** Starts `domaindex serve` and other servers under measurement, and asks them. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { domaindex, hears, type Manner, ROOT, run, type Started, start } from '../measure/process.ts'
import type { StoreFiles } from '../world/store.ts'
import type { OpenFigures, OpenLoad } from './open-loop.ts'

/**
 * The core that servers run on, and the one that load comes from: the first two, unless BENCH_CORES names others
 * ("2,3").
 */
export const [SERVER_CORE = 0, LOAD_CORE = 1] = (process.env.BENCH_CORES ?? '0,1').split(',').map(Number)

export type Server = { started: Started; origin: string }

const SETTINGS = {
  DOMAINDEX_PORT: '0',
  DOMAINDEX_ADMIN: '127.0.0.1:0',
  DOMAINDEX_JOB_TIMES: 'off',
  DOMAINDEX_INDEX: 'off',
  NODE_ENV: 'production',
}

/** On one core, its access log going to a file beside the store; with one worker unless told otherwise. */
export async function serve(
  { env, facts }: StoreFiles,
  given: { workers?: number; group?: boolean } = {},
): Promise<Server> {
  const settings = { ...env, ...SETTINGS, DOMAINDEX_WORKERS: String(given.workers ?? 1) }
  const manner = { core: SERVER_CORE, env: settings, output: `${facts}.log`, group: given.group ?? false }
  return listening(start(domaindex('serve'), manner))
}

/** A yardstick of bench/serve, on the same core. */
export function yardstick(name: string, env: Record<string, string>, manner: Manner = {}): Promise<Server> {
  const command = [process.execPath, join(ROOT, 'bench/serve', `${name}.ts`)]
  return listening(start(command, { core: SERVER_CORE, ...manner, env: { ...env, NODE_ENV: 'production' } }))
}

async function listening(started: Started): Promise<Server> {
  const [origin] = await hears(started, /http:\/\/[\d.]+:\d+/)
  return { started, origin }
}

/** An answer: status and body as it came. */
export async function ask(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: answer.status, text: await answer.text() }
}

/** Asks at an even rate from the other core. A wrong answer is a failure of the bench. */
export async function openLoop(folder: string, load: OpenLoad): Promise<OpenFigures> {
  const path = join(folder, 'load.json')
  writeFileSync(path, JSON.stringify(load))
  const said = await run([process.execPath, join(ROOT, 'bench/load/open-loop.ts'), path], { core: LOAD_CORE })
  const figures = JSON.parse(said) as OpenFigures
  if (figures.failures > 0) throw new Error(`${figures.failures} of ${figures.asked} answers were wrong`)
  return figures
}
