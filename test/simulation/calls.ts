/** The calls of the seven endpoints, and what the model says of their responses. */

import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import type { PlanLimits } from '../../src/accounts/plan.ts'
import type { Lookup } from '../../src/store/port/store.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { addDays, dayOf, formatInstant } from '../../src/values/time.ts'
import type { Run } from './expectations.ts'
import { ACCOUNTS, NAMES, type Step } from './steps.ts'
import { require, Violation } from './violation.ts'
import { LIMITS, type World } from './world.ts'

type Call = Extract<Step, { kind: 'call' }>
type Answer = { status: number; body: Buffer }
/** `result`: null if nothing is on record. */
type Page = { result: unknown; meta: { next?: string | null } }

const NO_PAGE: Page = { result: null, meta: {} }
const OK = 200
const UNAUTHORIZED = 401
const NOT_FOUND = 404
const MAX_PAGES = 30
/** Responses that say nothing about the data: the plan, the quota. */
const REFUSALS = [403, 429]

/** Calls an endpoint, all pages of it, and compares the response with the model. */
export async function callEndpoint(run: Run, step: Call): Promise<void> {
  const query = step.endpoint === 'reverseip' && step.address !== null ? step.address : step.name
  const { endpoint, limit } = step
  if (endpoint === 'daily') return callDaily(run, step)
  if (endpoint === 'snapshot') return callSnapshot(run, step)
  if (endpoint === 'similar') {
    await ask(run, step, { query }) // no page has a text, so none is similar
    return
  }
  const isPaged = endpoint === 'redirect' || endpoint === 'reverseip'
  const found: unknown[] = []
  let next: string | null = null
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { status, body } = await ask(run, step, { query, ...(isPaged && { limit }), ...(next !== null && { next }) })
    if (REFUSALS.includes(status)) return
    const { result, meta } = status === OK ? (JSON.parse(String(body)) as Page) : NO_PAGE
    if (isPaged && result !== null) found.push(...(result as unknown[]))
    next = isPaged ? (meta.next ?? null) : null
    if (next !== null) continue
    const seen = isPaged && result !== null ? found : result
    const expected = expectedResult(run, step)
    require(isDeepStrictEqual(seen, expected), () =>
      `${endpoint} ${query} is ${JSON.stringify(seen)}, not ${JSON.stringify(expected)}`)
    return
  }
  throw new Violation(`the pages of ${endpoint} ${query} have no end`)
}

function expectedResult({ expected: { facts, plan } }: Run, { endpoint, name, address, account }: Call): unknown {
  if (endpoint === 'lookup') {
    const found = facts.lookup(name)
    return found === null ? null : lookupResult(found)
  }
  if (endpoint === 'redirect') return facts.redirects(name).map((target) => ({ target }))
  if (endpoint === 'reverseip') {
    const addresses = address === null ? facts.addresses(name) : [address as never]
    const rows = facts.neighbours(addresses, address === null ? name : null)
    return (address === null ? addresses : rows).length === 0 ? null : rows
  }
  const limit = limitsOf(account, plan).historyStates!
  return Object.fromEntries(
    RECORD_TYPES.map((type) => {
      const states = facts.history(name, type).slice(0, Math.min(limit, 10))
      return [
        type,
        states.map(({ first_seen, records }) => ({
          first_seen: formatInstant(first_seen),
          records: JSON.parse(records),
        })),
      ]
    }),
  )
}

const YES_NO = [
  ...['has_website', 'redirect_to_https', 'redirect_to_www', 'redirect_to_domain', 'only_with_www', 'only_dns_no_web'],
] as const satisfies readonly string[]

function lookupResult(found: Lookup): object {
  const words = YES_NO.map((key) => [key, found[key as keyof Lookup] ? 'yes' : 'no'])
  return {
    ...Object.fromEntries(words),
    ssl: found.ssl,
    ...(found.ip !== null && { ip: found.ip }),
    redirect_count: String(found.redirect_count),
    reverse_ip_count: String(found.reverse_ip_count),
    social_networks: JSON.parse(found.social_networks),
    social_accounts: JSON.parse(found.social_accounts),
  }
}

async function callDaily(run: Run, step: Call): Promise<void> {
  const { world, expected } = run
  const date = addDays(dayOf(world.clock.now), -step.limit)
  const { status, body } = await ask(run, step, { date })
  if (status !== OK) return
  if (expected.areJobsDisturbed(world.clock.now)) return // the file may be older than its list
  const { allowed } = expected.namesOfDay(date)
  for (const name of namesIn(body))
    require(allowed.has(name), () => `the daily file of ${date} has ${name}, which no list of that day has`)
}

/** The newest snapshot and its size. Its content is compared after the jobs. */
async function callSnapshot(run: Run, step: Call): Promise<void> {
  const { status, body } = await ask(run, step, {})
  if (REFUSALS.includes(status)) return
  const newest = (await run.world.worker.jobs.fileStore.list('snapshot')).at(-1)
  const { filename, domains } = status === OK ? JSON.parse(String(body)).meta : {}
  require(filename === newest?.name && domains === newest?.rows, () =>
    `snapshot has ${filename} with ${domains} domains, not ${newest?.name} with ${newest?.rows}`)
}

export const namesIn = (packed: Uint8Array): string[] => String(gunzipSync(packed)).split('\n').filter(Boolean)

/** Sends a call and counts it. A call that is answered never exceeds the budget of its day. */
async function ask({ world, expected }: Run, { endpoint, account }: Call, parameters: object): Promise<Answer> {
  const { token, id } = world.accounts[account]!
  const day = dayOf(world.clock.now)
  const answer = await send(world, endpoint, { token, ...parameters })
  require(answer.status !== UNAUTHORIZED, () => `a valid token was rejected: ${answer.body}`)
  require([OK, NOT_FOUND, ...REFUSALS].includes(answer.status), () =>
    `${endpoint} ${JSON.stringify(parameters)} got ${answer.status}: ${answer.body}`)
  if (REFUSALS.includes(answer.status)) return answer
  if (endpoint === 'daily' && answer.status === OK) expected.pay(id, day, JSON.stringify(parameters))
  else expected.count(id, day)
  const [count, limit] = [expected.answered(id, day), limitsOf(account, expected.plan).dailyCalls!]
  require(count <= limit, () => `call ${count} of ${ACCOUNTS[account]} on ${day} was answered, above ${limit}`)
  return answer
}

async function send(world: World, endpoint: string, parameters: object): Promise<Answer> {
  const { api } = await world.serve()
  const { statusCode: status, rawPayload: body } = await api.app.inject({
    method: 'POST',
    url: `/v1.0/${endpoint}`,
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(parameters),
  })
  return { status, body }
}

/** Only the first account has no period, which would decide. */
const limitsOf = (account: number, plan: (typeof ACCOUNTS)[number]): PlanLimits =>
  LIMITS[account === 0 ? plan : ACCOUNTS[account]!]

/** Replaces the token of an account. The former one is rejected a second later. */
export async function replaceToken({ world }: Run, account: number): Promise<void> {
  const known = world.accounts[account]!
  const former = known.token
  await world.replaceToken(account)
  world.clock.pass(1_000)
  const { status } = await send(world, 'lookup', { token: former, query: NAMES[0] })
  require(status === UNAUTHORIZED, () => `a revoked token got ${status}`)
}

/** The settled units of today: each call that was answered, each file once, and nothing else. */
export async function checkUnits({ world, expected }: Run): Promise<void> {
  const { api, store } = await world.serve()
  await api.settleQuota()
  const today = dayOf(world.clock.now)
  if (expected.serverDiedOn === today) return
  for (const { id, email } of world.accounts) {
    const [used, answered] = [await store.ledger.usedUnits(id, today), expected.answered(id, today)]
    require(used === answered, () => `${email} got ${answered} answers on ${today}, and ${used} are counted`)
  }
}
