/**
 * A process that asks for addresses with so many questions in flight, by our resolver or by node:dns, and says how it
 * went.
 */

import { promises } from 'node:dns'
import { openResolver, type Server } from '../../src/probe/dns/resolver.ts'
import { addressAt, nameAt } from './nsd.ts'

/** What it is told, as JSON, in its first argument. */
export type Order = { who: 'ours' | 'node:dns'; flight: number; seconds: number; names: number; server: Server }

/** What it says, as JSON. `rate`: right answers a second. */
export type Asked = { rate: number; wrong: number; microseconds: number }

/** Both wait as long and try as often. */
const TIMEOUT_MILLISECONDS = 3000
const ATTEMPTS = 3
const WARM_UP_SECONDS = 1

const order: Order = JSON.parse(process.argv[2]!)
console.log(JSON.stringify(await ask(order)))
process.exit(0)

async function ask({ who, flight, seconds, names, server }: Order): Promise<Asked> {
  const look = who === 'ours' ? await ours(server) : theirs(server)
  const counts = { right: 0, wrong: 0 }
  let place = 0
  let isOver = false
  const worker = async () => {
    while (!isOver) {
      const at = place++
      if ((await look(nameAt(at, names))) === addressAt(at, names)) counts.right++
      else counts.wrong++
    }
  }
  for (let index = 0; index < flight; index++) void worker()
  await passed(WARM_UP_SECONDS)
  const before = { ...counts, at: performance.now(), cpu: process.cpuUsage() }
  await passed(seconds)
  const right = counts.right - before.right
  const { user, system } = process.cpuUsage(before.cpu)
  const measured = (performance.now() - before.at) / 1000
  isOver = true
  return { rate: right / measured, wrong: counts.wrong - before.wrong, microseconds: (user + system) / right }
}

/** The only address of a name, or null. */
type Look = (name: string) => Promise<string | null>

async function ours(server: Server): Promise<Look> {
  const resolver = await openResolver({ servers: [server], timeoutMs: TIMEOUT_MILLISECONDS, attempts: ATTEMPTS })
  return async (name) => {
    const answer = await resolver.resolve(name, 'A')
    return answer?.outcome === 'records' && answer.records.length === 1 ? (answer.records[0] as string) : null
  }
}

function theirs({ address, port }: Server): Look {
  const resolver = new promises.Resolver({ timeout: TIMEOUT_MILLISECONDS, tries: ATTEMPTS })
  resolver.setServers([`${address}:${port}`])
  return (name) =>
    resolver.resolve4(name).then(
      (addresses) => (addresses.length === 1 ? addresses[0]! : null),
      () => null,
    )
}

function passed(seconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, 1000 * seconds))
}
