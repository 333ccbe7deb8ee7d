/** Sends requests whose responses the synthetic world determines, and throws if a response is wrong. */

import { type MeasuredServer, postJson } from '../load/server.ts'
import { countSharing, type ExpectedFacts, expectedFactsAt } from './expected.ts'
import { randomInt, seededRandom } from './random.ts'
import { HOT_ADDRESS, HOT_TARGET, type World } from './world.ts'

type NamedFacts = ExpectedFacts & { domain: string }

/** The expected responses for random names, and for the address and the target that most names share. */
export type ExpectedAnswers = {
  lookups: { query: string; result: Record<string, unknown> }[]
  hotAddressRows: string[]
  hotTargetSources: string[]
}

/** Computes the expected responses, `count` lookups among them, in one pass over the world. */
export function computeExpectedAnswers(world: World, count: number): ExpectedAnswers {
  const random = seededRandom(world.seed, 1, 77)
  const chosen = Array.from({ length: count }, () => expectedFactsAt(world, randomInt(random, world.names)))
  const known = chosen.filter(({ result }) => result.ip === 'v4only' || result.ip === 'v6only' || result.ip === 'both')
  const addresses = new Set(known.flatMap((each) => each.addresses))
  const { onAddress, toTarget } = countSharing(world, addresses, new Set(chosen.map(({ domain }) => domain)))
  const lookups = chosen.map((each) => ({ query: each.domain, result: withCounts(each, onAddress, toTarget) }))
  return { lookups, ...hotRows(world) }
}

function withCounts(
  { domain, result, addresses }: NamedFacts,
  onAddress: ReadonlyMap<string, number>,
  toTarget: ReadonlyMap<string, number>,
): Record<string, unknown> {
  const neighbours = addresses.reduce((sum, address) => sum + onAddress.get(address)! - 1, 0)
  return { ...result, redirect_count: String(toTarget.get(domain) ?? 0), reverse_ip_count: String(neighbours) }
}

/**
 * Returns the names on the hot address, as rows of /reverseip, and the names that redirect to the hot target, in byte
 * order.
 */
function hotRows(world: World): Pick<ExpectedAnswers, 'hotAddressRows' | 'hotTargetSources'> {
  const hotAddressRows: string[] = []
  const hotTargetSources: string[] = []
  for (let index = 0; index < world.names; index++) {
    const { domain, addresses, target, since } = expectedFactsAt(world, index)
    if (addresses.includes(HOT_ADDRESS)) hotAddressRows.push(`${domain} ${HOT_ADDRESS} ${since}`)
    if (target === HOT_TARGET) hotTargetSources.push(domain)
  }
  return { hotAddressRows: hotAddressRows.sort(), hotTargetSources: hotTargetSources.sort() }
}

/** Throws if a response of /lookup is wrong. */
export async function verifyLookups(
  { origin }: MeasuredServer,
  expected: ExpectedAnswers,
  token: string,
): Promise<void> {
  for (const { query, result } of expected.lookups) {
    const { status, text: body } = await postJson(`${origin}/v1.0/lookup`, { token, query })
    const response = JSON.parse(body)
    if (status !== 200 || response.meta.query !== query || canonicalJson(response.result) !== canonicalJson(result)) {
      throw new Error(`/lookup of ${query} is wrong:\n${body}\nexpected ${JSON.stringify(result)}`)
    }
  }
}

/** Reads all pages of the hot address. Throws if their rows are wrong. */
export async function verifyPages(url: string, expected: ExpectedAnswers, token: string, limit: number): Promise<void> {
  const rows: { target: string; ip: string; since: string }[] = []
  let next: string | null = null
  do {
    const request: Record<string, unknown> = { token, query: HOT_ADDRESS, limit, ...(next === null ? {} : { next }) }
    const { status, text: body } = await postJson(url, request)
    if (status !== 200) throw new Error(`${url}: ${body.slice(0, 1000)}`)
    const response = JSON.parse(body)
    rows.push(...response.result)
    next = response.meta.next
  } while (next !== null)
  const found = rows.map(({ target, ip, since }) => `${target} ${ip} ${since}`)
  if (found.join('\n') !== expected.hotAddressRows.join('\n'))
    throw new Error(`${url}: ${found.length} rows, and some of them are wrong`)
}

/** Reads all pages of the hot target. Throws if their rows are wrong. */
export async function verifyRedirects(
  { origin }: MeasuredServer,
  expected: ExpectedAnswers,
  token: string,
): Promise<void> {
  const found: string[] = []
  let next: string | null = null
  do {
    const body = { token, query: HOT_TARGET, limit: 50_000, next }
    const response = JSON.parse((await postJson(`${origin}/v1.0/redirect`, body)).text)
    found.push(...response.result.map(({ target }: { target: string }) => target))
    next = response.meta.next
  } while (next !== null)
  if (found.join('\n') !== expected.hotTargetSources.join('\n')) throw new Error('/redirect returned wrong rows')
}

/** Formats a result independently of the order of its keys. */
function canonicalJson(result: Record<string, unknown>): string {
  return JSON.stringify(Object.entries(result).sort(([a], [b]) => (a < b ? -1 : 1)))
}
