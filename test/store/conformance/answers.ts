/** Compares every response of the four queries about a few names between a store and the model. */

import assert from 'node:assert/strict'
import type { NameFilter, NameQuery } from '../../../src/search/name-query.ts'
import type {
  InverseQuery,
  InverseReader,
  InverseSpan,
  RedirectSpan,
  RedirectSpanPage,
  TimeFence,
} from '../../../src/store/port/inverse.ts'
import type { DomainProfile, FactsReader, Lookup, Store } from '../../../src/store/port/store.ts'
import { compareBytewise } from '../../../src/values/bytewise-order.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import type { IpAddress } from '../../../src/values/ip-address.ts'
import { RECORD_TYPES } from '../../../src/values/records/dns-record.ts'
import { isLong } from '../../long.ts'
import { isFoundBy } from '../found-names.ts'
import type { Model, ModelSpan } from '../model.ts'
import { ADDRESSES, TEXTS } from './arbitraries.ts'
import { agreeOnCertificates, walkCertificates } from './certificates.ts'
import {
  addressesOf,
  walkHistory,
  walkInterruptions,
  walkNeighbours,
  walkRedirects,
  walkStates,
} from './reading/paging.ts'

/** The names and addresses to query, in pages of `limit` rows. */
export type Question = { names: readonly DomainName[]; addresses: readonly IpAddress[]; limit: number }

/** The store answers as the model does. */
export async function agree(
  { facts, inverse }: Pick<Store, 'facts' | 'inverse'>,
  model: Model,
  question: Question,
): Promise<void> {
  assert.deepEqual(await answersOfStore(facts, question), answersOfModel(model, question))
  await agreeOnCertificates({ inverse, facts }, model, question.limit)
  for (const target of REDIRECT_TARGETS) await agreeOnRedirects(inverse, model, target, question.limit)
  const spans = model.spans()
  for (const [turn, [text, query]] of INVERSE_QUERIES.entries())
    await agreeBackwards(inverse, spans, { text, query, limit: question.limit, turn })
  for (const query of NAME_QUERIES)
    assert.deepEqual((await walkNames(inverse, query, null, question.limit)).sort(), namesOf(model.names(), query))
}

/** Some find names of the histories by their last label, in the middle, or twice in one name. */
const NAME_QUERIES: readonly NameQuery[] = [
  { by: 'below', text: 'example' },
  { by: 'start', text: 'c.' },
  { by: 'end', text: 'mple' },
  { by: 'inside', text: 'ex' },
]

/** The names that a query finds, in byte order, found by looking at each. */
export function namesOf(names: readonly DomainName[], query: NameQuery): DomainName[] {
  return names.filter((name) => isFoundBy(query, name)).sort(compareBytewise)
}

const HOST_TYPES = ['NS', 'MX', 'CNAME', 'SOA'] as const
/** Queries of the inverse index with the values that they find, as a pattern. */
const INVERSE_QUERIES: readonly [RegExp, InverseQuery][] = [
  ...ADDRESSES.map((each): [RegExp, InverseQuery] => [
    new RegExp(`^A+ ${each}$`),
    { by: 'addresses', first: each, last: each },
  ]),
  [/^A 192\.0\.2\./, { by: 'addresses', first: '192.0.2.0' as IpAddress, last: '192.0.2.255' as IpAddress }],
  [
    /^AAAA /,
    { by: 'addresses', first: '::' as IpAddress, last: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff' as IpAddress },
  ],
  ...(['one.example', 'two.example'] as const).map((host): [RegExp, InverseQuery] => [
    new RegExp(`^(NS|MX|CNAME|SOA)( \\S+)? ${host}$`),
    { by: 'hosts', host, match: 'exact', types: HOST_TYPES },
  ]),
  [/^MX \d+ one\.example$/, { by: 'hosts', host: 'one.example', match: 'exact', types: ['MX'] }],
  [/^(NS|CNAME) \S+\.example$/, { by: 'hosts', host: 'example', match: 'below', types: ['NS', 'CNAME'] }],
  [/^(NS|MX|CNAME|SOA)( \S+)? one\./, { by: 'hosts', host: 'one', match: 'starting', types: HOST_TYPES }],
  ...TEXTS.map((parts): [RegExp, InverseQuery] => [exactly(`TXT ${JSON.stringify(parts)}`), { by: 'text', parts }]),
]

/** A pattern of this text alone. */
function exactly(text: string): RegExp {
  return new RegExp(`^${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`)
}

const REDIRECT_TARGETS = ['example', 't.example', 'www.t.example'] as DomainName[]

/** The walk of the redirects to a target finds those of the model, each once, and with a fence those inside it. */
async function agreeOnRedirects(
  inverse: InverseReader,
  model: Model,
  target: DomainName,
  limit: number,
): Promise<void> {
  const all = model.redirectSpans().filter(({ host }) => `.${host}`.endsWith(`.${target}`))
  const some = all[all.length >> 1]
  const fence = some ? { firstBefore: some.last + 1, lastAfter: some.first - 1 } : {}
  const within = some ? all.filter(({ first, last }) => first <= some.last && last >= some.first) : all
  for (const [bounds, expected] of [
    [{}, all],
    [fence, within],
  ] as const) {
    const found: RedirectSpan[] = []
    let position: Uint8Array | null = null
    do {
      const page: RedirectSpanPage = await inverse.redirects(target, bounds, position, limit)
      assert.ok(page.spans.length <= limit)
      found.push(...page.spans)
      position = page.position
    } while (position !== null)
    const inOrder = (spans: readonly RedirectSpan[]): string[] =>
      spans.map(({ host, name, first, last }) => `${host} | ${name} ${first} ${last}`).sort()
    assert.deepEqual(inOrder(found), inOrder(expected), `redirects to ${target}`)
  }
}

/**
 * The walk of a query finds the spans of the model, each once, and with a fence those inside it. The short form takes one
 * of the fences in turn.
 */
async function agreeBackwards(
  inverse: InverseReader,
  spans: readonly ModelSpan[],
  { text, query, limit, turn }: { text: RegExp; query: InverseQuery; limit: number; turn: number },
): Promise<void> {
  const all = spans.filter(({ value }) => text.test(value))
  const some = all[all.length >> 1]
  const fences: TimeFence[] = some
    ? [{ firstBefore: some.last }, { lastAfter: some.first, firstAfter: some.first }, { lastBefore: some.last }]
    : []
  const tried = isLong || fences.length === 0 ? fences : [fences[(turn + all.length) % fences.length]!]
  for (const fence of [{}, ...tried]) {
    const {
      firstBefore = Number.POSITIVE_INFINITY,
      firstAfter = 0,
      lastBefore = Number.POSITIVE_INFINITY,
      lastAfter = 0,
    }: TimeFence = fence
    const expected = all.filter(
      ({ first, last }) => first > firstAfter && first < firstBefore && last > lastAfter && last < lastBefore,
    )
    assert.deepEqual(
      inOrder(await walkSpans(inverse, query, fence, limit)),
      inOrder(expected),
      `${text} ${JSON.stringify(fence)}`,
    )
  }
}

function inOrder(spans: readonly ModelSpan[]): string[] {
  return spans.map(({ value, name, first, last }) => `${value} | ${name} ${first} ${last}`).sort()
}

/** All spans of a query, in pages of `limit`. */
export async function walkSpans(
  inverse: InverseReader,
  query: InverseQuery,
  fence: TimeFence,
  limit: number,
): Promise<ModelSpan[]> {
  const found: ModelSpan[] = []
  let position: Uint8Array | null = null
  do {
    const page: Awaited<ReturnType<InverseReader['spans']>> = await inverse.spans(query, fence, position, limit)
    assert.ok(page.spans.length <= limit)
    found.push(...page.spans.map(({ data, name, first, last }) => ({ value: valueText(data), name, first, last })))
    position = page.position
  } while (position !== null)
  return found
}

/** All names of a query, in pages of `limit`. */
export async function walkNames(inverse: InverseReader, query: NameQuery, filter: NameFilter | null, limit: number) {
  const found: DomainName[] = []
  let position: Uint8Array | null = null
  do {
    const page: Awaited<ReturnType<InverseReader['names']>> = await inverse.names(query, filter, position, limit)
    assert.ok(page.names.length <= limit)
    found.push(...page.names)
    position = page.position
  } while (position !== null)
  return found
}

function valueText(data: InverseSpan['data']): string {
  if (data.type === 'TXT') return `TXT ${JSON.stringify(data.parts)}`
  if (data.type === 'SOA') return `SOA ${data.role} ${data.host}`
  if (data.type === 'MX') return `MX ${data.priority} ${data.host}`
  return `${data.type} ${'host' in data ? data.host : data.address}`
}

async function answersOfStore(facts: FactsReader, { names, addresses, limit }: Question): Promise<object> {
  const answers: Record<string, object> = {}
  for (const name of names) {
    const history = RECORD_TYPES.map(async (type) => [type, await walkHistory(facts, name, type, limit)])
    const interruptions = RECORD_TYPES.map(async (type) => [type, await walkInterruptions(facts, name, type, limit)])
    const heads = await facts.history(name, RECORD_TYPES, null, limit)
    answers[name] = {
      lookup: readable(await facts.lookup(name)),
      profile: readableProfile(await facts.domainProfile(name, limit)),
      clocks: structuredClone(await facts.clocks(name)),
      redirects: await walkRedirects(facts, name, limit),
      web: await walkStates(facts, name, (before) => facts.webHistory(name, before, limit)),
      certificates: await walkCertificates(facts, name, limit),
      addresses: [...(await addressesOf(facts, name))],
      neighbours: await walkNeighbours(facts, name, limit),
      history: Object.fromEntries(await Promise.all(history)),
      interruptions: Object.fromEntries(await Promise.all(interruptions)),
      heads: RECORD_TYPES.map((type) => structuredClone(heads.byType[type])),
      headClocks: structuredClone(heads.lastObserved),
    }
  }
  for (const address of addresses) {
    answers[address] = await walkNeighbours(facts, [address], limit)
    answers[`profile of ${address}`] = await facts.addressProfile(address, limit)
  }
  return answers
}

function answersOfModel(model: Model, { names, addresses, limit }: Question): object {
  const answers: Record<string, object> = {}
  for (const name of names) {
    answers[name] = {
      lookup: readable(model.lookup(name)),
      profile: readableProfile(model.domainProfile(name, limit)),
      clocks: model.clocks(name),
      redirects: model.redirects(name),
      web: { states: model.webHistory(name), total: model.webHistory(name).length },
      certificates: { states: model.certificateHistory(name), total: model.certificateHistory(name).length },
      addresses: model.addresses(name),
      neighbours: model.neighbours(model.addresses(name), name),
      history: Object.fromEntries(RECORD_TYPES.map((type) => [type, model.history(name, type)])),
      interruptions: Object.fromEntries(RECORD_TYPES.map((type) => [type, model.interruptions(name, type)])),
      heads: RECORD_TYPES.map((type) => {
        const states = model.history(name, type)
        const absent_since = model.absentSince(name, type)
        const total = Math.min(states.length, 1001)
        return { states: states.slice(0, limit), total, more: states.length > limit, absent_since }
      }),
      headClocks: model.clocks(name),
    }
  }
  for (const address of addresses) {
    answers[address] = model.neighbours([address], null)
    answers[`profile of ${address}`] = model.addressProfile(address, limit)
  }
  return answers
}

/** A lookup with parsed JSON texts, so that white space makes no difference. */
function readable(lookup: Lookup | null): object | null {
  if (lookup === null) return null
  const { social_networks, social_accounts, ...rest } = lookup
  return {
    ...structuredClone(rest),
    social_networks: JSON.parse(social_networks),
    social_accounts: JSON.parse(social_accounts).map(Object.entries),
  }
}

/** As `readable`. The keys of `records` may be in any order. */
function readableProfile(profile: DomainProfile | null): object | null {
  return profile === null ? null : { ...structuredClone(profile), lookup: readable(profile.lookup) }
}
