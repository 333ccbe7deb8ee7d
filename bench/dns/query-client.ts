/** A process that keeps a number of A queries in flight, through our resolver or node:dns, and prints the result. */

import { promises } from 'node:dns'
import { openResolver } from '../../src/probe/dns/resolver.ts'
import type { DnsServer } from '../../src/probe/dns/server.ts'
import { addressAt, dnsNameAt } from './nsd.ts'

/** The task: the first argument, as JSON. */
export type QueryTask = {
  client: 'ours' | 'node:dns'
  concurrency: number
  seconds: number
  names: number
  server: DnsServer
}

/**
 * The result, printed as JSON. `rate`: right answers per second. `cpuMicroseconds`: processor time per right answer.
 */
export type QueryResult = { rate: number; wrong: number; cpuMicroseconds: number }

/** Both clients have the same timeout and the same number of attempts. */
const TIMEOUT_MILLISECONDS = 3000
const ATTEMPTS = 3
const WARM_UP_SECONDS = 1

const task: QueryTask = JSON.parse(process.argv[2]!)
console.log(JSON.stringify(await sendQueries(task)))
process.exit(0)

async function sendQueries({ client, concurrency, seconds, names, server }: QueryTask): Promise<QueryResult> {
  const lookup = client === 'ours' ? await ourLookup(server) : nodeLookup(server)
  const counts = { right: 0, wrong: 0 }
  let nextPosition = 0
  let isOver = false
  const worker = async () => {
    while (!isOver) {
      const position = nextPosition++
      if ((await lookup(dnsNameAt(position, names))) === addressAt(position, names)) counts.right++
      else counts.wrong++
    }
  }
  for (let index = 0; index < concurrency; index++) void worker()
  await sleepSeconds(WARM_UP_SECONDS)
  const before = { ...counts, at: performance.now(), cpu: process.cpuUsage() }
  await sleepSeconds(seconds)
  const right = counts.right - before.right
  const { user, system } = process.cpuUsage(before.cpu)
  const measuredSeconds = (performance.now() - before.at) / 1000
  isOver = true
  return { rate: right / measuredSeconds, wrong: counts.wrong - before.wrong, cpuMicroseconds: (user + system) / right }
}

/** Returns the only address of a name, or null. */
type Lookup = (name: string) => Promise<string | null>

async function ourLookup(server: DnsServer): Promise<Lookup> {
  const resolver = await openResolver({ servers: [server], timeoutMs: TIMEOUT_MILLISECONDS, attempts: ATTEMPTS })
  return async (name) => {
    const answer = await resolver.resolve(name, 'A')
    return answer?.outcome === 'records' && answer.records.length === 1 ? (answer.records[0] as string) : null
  }
}

function nodeLookup({ address, port }: DnsServer): Lookup {
  const resolver = new promises.Resolver({ timeout: TIMEOUT_MILLISECONDS, tries: ATTEMPTS })
  resolver.setServers([`${address}:${port}`])
  return (name) =>
    resolver.resolve4(name).then(
      (addresses) => (addresses.length === 1 ? addresses[0]! : null),
      () => null,
    )
}

function sleepSeconds(seconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, 1000 * seconds))
}
