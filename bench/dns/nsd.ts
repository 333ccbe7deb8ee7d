/**
 * nsd with as many names as are asked for, each with an address of its own, and the same questions as a file for
 * dnsperf.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openResolver, type Server } from '../../src/probe/dns/resolver.ts'
import type { IpAddress } from '../../src/values/ip-address.ts'
import { freePort } from '../measure/port.ts'
import { end, start } from '../measure/process.ts'

const ZONE = 'bench.example'
/** Prime, so that the names come in an order that nobody's cache foresees. */
const STRIDE = 78_893
const MILLISECONDS_BETWEEN_TRIES = 100
const TRIES = 600

/** The name that is asked for at a place of the order. */
export function nameAt(place: number, names: number): string {
  return `n${indexAt(place, names)}.${ZONE}`
}

/** The only address it has. */
export function addressAt(place: number, names: number): string {
  return addressOf(indexAt(place, names))
}

function indexAt(place: number, names: number): number {
  return ((place % names) * STRIDE) % names
}

function addressOf(index: number): string {
  return `10.${index >>> 16}.${(index >>> 8) & 255}.${index & 255}`
}

/** Starts it on one core. `questions`: the path of the file for dnsperf. */
export async function startNsd(
  folder: string,
  names: number,
  core: number,
): Promise<{ server: Server; questions: string; close(): Promise<void> }> {
  const server: Server = { address: '127.0.0.1' as IpAddress, port: await freePort() }
  const questions = join(folder, 'questions')
  writeFileSync(
    questions,
    linesOf(names, (place) => `${nameAt(place, names)} A`),
  )
  writeFileSync(join(folder, 'zone'), `${ZONE_HEAD}${linesOf(names, (index) => `n${index} A ${addressOf(index)}`)}`)
  writeFileSync(join(folder, 'nsd.conf'), configuration(folder, server.port))
  const started = start(['nsd', '-d', '-c', join(folder, 'nsd.conf')], { core })
  const close = async () => {
    await end(started)
  }
  const resolver = await openResolver({ servers: [server], timeoutMs: MILLISECONDS_BETWEEN_TRIES, attempts: 1 })
  try {
    for (let tries = 0; tries < TRIES && started.child.exitCode === null; tries++) {
      const answer = await resolver.resolve(nameAt(1, names), 'A')
      if (answer?.outcome === 'records') return { server, questions, close }
      await new Promise((done) => setTimeout(done, MILLISECONDS_BETWEEN_TRIES))
    }
  } finally {
    await resolver.close()
  }
  await close()
  throw new Error(`nsd does not answer:\n${started.said()}`)
}

const ZONE_HEAD = `$TTL 3600
@ SOA ns hostmaster 1 7200 3600 1209600 300
@ NS ns
ns A 127.0.0.1
`

function configuration(folder: string, port: number): string {
  return `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  server-count: 1
  rrl-ratelimit: 0
  rrl-whitelist-ratelimit: 0
  zonesdir: "${folder}"
  xfrdir: "${folder}"
  pidfile: "${folder}/pid"
  xfrdfile: "${folder}/xfrd"
  zonelistfile: "${folder}/zonelist"
remote-control:
  control-enable: no
zone:
  name: "${ZONE}"
  zonefile: "zone"
`
}

function linesOf(count: number, line: (index: number) => string): string {
  return `${Array.from({ length: count }, (_, index) => line(index)).join('\n')}\n`
}
