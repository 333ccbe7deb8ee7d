/** Asks a server for answers that the world foretells, and counts those that are wrong. */

import { ask, type Server } from '../load/server.ts'
import { counts, type Expected, expectedOf } from './expected.ts'
import { below, diceOf } from './random.ts'
import { HOT_ADDRESS, HOT_TARGET, type World } from './world.ts'

type Whole = Expected & { domain: string }

/** What is right about names drawn at random, and about what most names share. */
export type Truth = { lookups: { query: string; result: Record<string, unknown> }[]; onHot: string[]; toHot: string[] }

/** Works out the truth, `count` lookups of it, in one walk through the world. */
export function truthOf(world: World, count: number): Truth {
  const dice = diceOf(world.seed, 1, 77)
  const drawn = Array.from({ length: count }, () => expectedOf(world, below(dice, world.names)))
  const known = drawn.filter(({ result }) => result.ip === 'v4only' || result.ip === 'v6only' || result.ip === 'both')
  const addresses = new Set(known.flatMap((each) => each.addresses))
  const { onAddress, toTarget } = counts(world, addresses, new Set(drawn.map(({ domain }) => domain)))
  const lookups = drawn.map((each) => ({ query: each.domain, result: withCounts(each, onAddress, toTarget) }))
  return { lookups, ...shared(world) }
}

function withCounts(
  { domain, result, addresses }: Whole,
  onAddress: ReadonlyMap<string, number>,
  toTarget: ReadonlyMap<string, number>,
): Record<string, unknown> {
  const neighbours = addresses.reduce((sum, address) => sum + onAddress.get(address)! - 1, 0)
  return { ...result, redirect_count: String(toTarget.get(domain) ?? 0), reverse_ip_count: String(neighbours) }
}

/** Who is on the hot address, as rows of /reverseip, and who redirects to the hot target, bytewise. */
function shared(world: World): Pick<Truth, 'onHot' | 'toHot'> {
  const onHot: string[] = []
  const toHot: string[] = []
  for (let index = 0; index < world.names; index++) {
    const { domain, addresses, target, since } = expectedOf(world, index)
    if (addresses.includes(HOT_ADDRESS)) onHot.push(`${domain} ${HOT_ADDRESS} ${since}`)
    if (target === HOT_TARGET) toHot.push(domain)
  }
  return { onHot: onHot.sort(), toHot: toHot.sort() }
}

/** Throws where an answer of /lookup is not the right one. */
export async function verifyLookups({ origin }: Server, truth: Truth, token: string): Promise<void> {
  for (const { query, result } of truth.lookups) {
    const { status, text } = await ask(`${origin}/v1.0/lookup`, { token, query })
    const answer = JSON.parse(text)
    if (status !== 200 || answer.meta.query !== query || sorted(answer.result) !== sorted(result)) {
      throw new Error(`/lookup of ${query} is wrong:\n${text}\nexpected ${JSON.stringify(result)}`)
    }
  }
}

/** Walks all pages of the hot address; throws where their rows are not the right ones. */
export async function verifyPages(url: string, truth: Truth, token: string, limit: number): Promise<void> {
  const rows: { target: string; ip: string; since: string }[] = []
  let next: string | null = null
  do {
    const body: Record<string, unknown> = { token, query: HOT_ADDRESS, limit, ...(next === null ? {} : { next }) }
    const { status, text } = await ask(url, body)
    if (status !== 200) throw new Error(`${url}: ${text.slice(0, 1000)}`)
    const answer = JSON.parse(text)
    rows.push(...answer.result)
    next = answer.meta.next
  } while (next !== null)
  const found = rows.map(({ target, ip, since }) => `${target} ${ip} ${since}`)
  if (found.join('\n') !== truth.onHot.join('\n'))
    throw new Error(`${url}: ${found.length} rows are not the right ones`)
}

/** Walks all pages of the hot target; throws where their rows are not the right ones. */
export async function verifyRedirects({ origin }: Server, truth: Truth, token: string): Promise<void> {
  const found: string[] = []
  let next: string | null = null
  do {
    const body = { token, query: HOT_TARGET, limit: 50_000, next }
    const answer = JSON.parse((await ask(`${origin}/v1.0/redirect`, body)).text)
    found.push(...answer.result.map(({ target }: { target: string }) => target))
    next = answer.meta.next
  } while (next !== null)
  if (found.join('\n') !== truth.toHot.join('\n')) throw new Error('/redirect is wrong')
}

/** As text in which the order of keys does not count. */
function sorted(result: Record<string, unknown>): string {
  return JSON.stringify(Object.entries(result).sort(([a], [b]) => (a < b ? -1 : 1)))
}
