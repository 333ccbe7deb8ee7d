/** Loads a server over many keep-alive connections, by a process on the core of the load. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, runProcess } from '../measure/process.ts'
import type { KeepAliveLoad, KeepAliveResult } from './keep-alive-load.ts'
import { LOAD_CORE } from './server.ts'

/** The command that applies a load. Writes the load to a file in `folder`. */
export function keepAliveCommand(folder: string, load: KeepAliveLoad): string[] {
  const file = join(folder, 'keep-alive-load.json')
  writeFileSync(file, JSON.stringify(load))
  return [process.execPath, join(ROOT, 'bench/load/keep-alive-load.ts'), file]
}

export async function runKeepAliveLoad(folder: string, load: KeepAliveLoad): Promise<KeepAliveResult> {
  return JSON.parse(await runProcess(keepAliveCommand(folder, load), { core: LOAD_CORE }))
}

/** The bytes of a POST request with a JSON body of ASCII characters. */
export function postRequest(path: string, value: unknown): string {
  const body = JSON.stringify(value)
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** The number of requests that did not get the status 200. */
export function countFailures({ statuses, reset, unanswered }: KeepAliveResult): number {
  const others = Object.entries(statuses).filter(([status]) => status !== '200')
  return others.reduce((sum, [, count]) => sum + count, reset + unanswered)
}
