/** Compares every response of the four queries about a few names between a store and the model. */

import assert from 'node:assert/strict'
import type { DomainProfile, FactsReader, Lookup } from '../../../src/store/port/store.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import type { IpAddress } from '../../../src/values/ip-address.ts'
import { RECORD_TYPES } from '../../../src/values/records/dns-record.ts'
import type { Model } from '../model.ts'
import { walkHistory, walkInterruptions, walkNeighbours, walkRedirects } from './reading/paging.ts'

/** The names and addresses to query, in pages of `limit` rows. */
export type Question = { names: readonly DomainName[]; addresses: readonly IpAddress[]; limit: number }

/** The store answers as the model does. */
export async function agree(facts: FactsReader, model: Model, question: Question): Promise<void> {
  assert.deepEqual(await answersOfStore(facts, question), answersOfModel(model, question))
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
      addresses: [...(await facts.addresses(name))],
      neighbours: await walkNeighbours(facts, name, limit),
      history: Object.fromEntries(await Promise.all(history)),
      interruptions: Object.fromEntries(await Promise.all(interruptions)),
      heads: RECORD_TYPES.map((type) => structuredClone(heads[type])),
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
      addresses: model.addresses(name),
      neighbours: model.neighbours(model.addresses(name), name),
      history: Object.fromEntries(RECORD_TYPES.map((type) => [type, model.history(name, type)])),
      interruptions: Object.fromEntries(RECORD_TYPES.map((type) => [type, model.interruptions(name, type)])),
      heads: RECORD_TYPES.map((type) => {
        const states = model.history(name, type)
        return { states: states.slice(0, limit), total: Math.min(states.length, 1001), more: states.length > limit }
      }),
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
