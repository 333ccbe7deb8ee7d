/**
 * Starts nsd with one zone, in which every name has an address of its own, and writes the same queries as a file for
 * dnsperf.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openResolver } from '../../src/probe/dns/resolver.ts'
import type { DnsServer } from '../../src/probe/dns/server.ts'
import type { IpAddress } from '../../src/values/ip-address.ts'
import { findFreePort } from '../measure/port.ts'
import { startProcess, stopProcess } from '../measure/process.ts'

const ZONE = 'bench.example'
/** A prime number, so that the names come in an order that no cache can exploit. */
const STRIDE = 78_893
const RETRY_MILLISECONDS = 100
const MAX_ATTEMPTS = 600

/** Returns the name that is queried at a position of the order. */
export function dnsNameAt(position: number, names: number): string {
  return `n${indexAt(position, names)}.${ZONE}`
}

/** Returns the only address of the name at a position. */
export function addressAt(position: number, names: number): string {
  return addressOf(indexAt(position, names))
}

function indexAt(position: number, names: number): number {
  return ((position % names) * STRIDE) % names
}

function addressOf(index: number): string {
  return `10.${index >>> 16}.${(index >>> 8) & 255}.${index & 255}`
}

/** Starts nsd on one core. `questions`: the path of the query file for dnsperf. */
export async function startNsd(
  folder: string,
  names: number,
  core: number,
): Promise<{ server: DnsServer; questions: string; close(): Promise<void> }> {
  const server: DnsServer = { address: '127.0.0.1' as IpAddress, port: await findFreePort() }
  const questions = join(folder, 'questions')
  writeFileSync(
    questions,
    joinLines(names, (position) => `${dnsNameAt(position, names)} A`),
  )
  writeFileSync(join(folder, 'zone'), `${ZONE_HEAD}${joinLines(names, (index) => `n${index} A ${addressOf(index)}`)}`)
  writeFileSync(join(folder, 'nsd.conf'), configuration(folder, server.port))
  const running = startProcess(['nsd', '-d', '-c', join(folder, 'nsd.conf')], { core })
  const close = async () => {
    await stopProcess(running)
  }
  const resolver = await openResolver({ servers: [server], timeoutMs: RETRY_MILLISECONDS, attempts: 1 })
  try {
    for (let attempts = 0; attempts < MAX_ATTEMPTS && running.child.exitCode === null; attempts++) {
      const answer = await resolver.resolve(dnsNameAt(1, names), 'A')
      if (answer?.outcome === 'records') return { server, questions, close }
      await new Promise((done) => setTimeout(done, RETRY_MILLISECONDS))
    }
  } finally {
    await resolver.close()
  }
  await close()
  throw new Error(`nsd does not answer:\n${running.output()}`)
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

function joinLines(count: number, line: (index: number) => string): string {
  return `${Array.from({ length: count }, (_, index) => line(index)).join('\n')}\n`
}
