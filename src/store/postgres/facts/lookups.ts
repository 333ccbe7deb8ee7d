/** Look-ups on PostgreSQL: those that arrive while others are in progress share one statement. */

import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { StoreUnavailableFault } from '../../port/fault.ts'
import type { Lookup } from '../../port/store.ts'
import { type LookupRow, unpackLookup } from '../../shared/lookup.ts'
import { plainArray } from '../database/arrays.ts'
import { addressPartitionSql, slotPartitionSql } from '../database/partition.ts'
import type { ReadStatement } from '../database/pipelined-reader.ts'

/** Reads the rows of names at one moment. Omits unknown names. */
export type ReadLookups = (names: readonly DomainName[]) => Promise<Map<DomainName, LookupRow>>

/** Statements of a process in progress: one for each connection for short reads. */
const MAX_STATEMENTS = 2
/** Names of a statement: a millisecond of the server. */
const MAX_NAMES = 32

const READ_LOOKUPS = {
  name: 'facts.lookups',
  rowMode: 'array' as const,
  text: `select v.id, v.clock, v.other_clocks, f.ip, f.flags, f.ssl, f.redirects_to, f.social_networks, f.social_accounts,
      (select sources from redirect_count t where t.part = v.part and t.target = v.name) as redirects,
      (select sum(a.names - 1)::bigint from unnest(f.addresses) x
        join address_count a on a.part = ${addressPartitionSql('x')} and a.address = x) as neighbours,
      v.name
    from unnest($1::integer[], $2::text[]) as k(slot, name)
    join crawl_state v on v.part = ${slotPartitionSql('k.slot')} and v.slot = k.slot and v.name = k.name
    left join facts f on f.part = v.part and f.id = v.id`,
}
type NamedLookupRow = [...LookupRow, name: DomainName]

/** Concurrent look-ups of a name share its promise. */
type Waiting = Map<DomainName, PromiseWithResolvers<Lookup | null>>

/** Looks up in a database without shards, each name in one statement. */
export function postgresLookups(read: ReadStatement): (name: DomainName) => Promise<Lookup | null> {
  return sharedLookups(async (names) => {
    const rows = await read<NamedLookupRow>(READ_LOOKUPS, [plainArray(names.map(slotOf)), plainArray(names)])
    return new Map(rows.map((row) => [row[11], row as unknown as LookupRow]))
  })
}

/**
 * Returns the function that looks a name up. A look-up is sent at once, unless many are in progress. All its fields are
 * from one moment after the call.
 */
export function sharedLookups(readRows: ReadLookups): (name: DomainName) => Promise<Lookup | null> {
  let inProgress = 0
  let waiting: Waiting = new Map()

  const sendWaiting = async (): Promise<void> => {
    const batch = waiting
    waiting = new Map()
    inProgress++
    try {
      const rows = await readRows([...batch.keys()])
      for (const [name, { resolve }] of batch) {
        const row = rows.get(name)
        resolve(row ? unpackLookup(row) : null)
      }
    } catch (error) {
      // look-ups that arrived meanwhile would wait as long again
      const rest = error instanceof StoreUnavailableFault ? waiting : new Map()
      if (rest === waiting) waiting = new Map()
      for (const { reject } of [...batch.values(), ...rest.values()]) reject(error)
    }
    inProgress--
    if (waiting.size > 0) void sendWaiting()
  }

  return (name) => {
    const known = waiting.get(name)
    if (known !== undefined) return known.promise
    const lookup = Promise.withResolvers<Lookup | null>()
    waiting.set(name, lookup)
    if (inProgress < MAX_STATEMENTS || waiting.size === MAX_NAMES) void sendWaiting()
    return lookup.promise
  }
}
