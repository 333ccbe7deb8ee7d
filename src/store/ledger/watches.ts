/** The watches of accounts, and how writers of observations follow their changes. */

import type { Instant } from '../../values/time.ts'
import { type DifferenceType, WATCH_KINDS, type WatchKind, watchWeight } from '../../values/watch-kind.ts'
import type { Watch, WatchRule } from '../../watch/watch.ts'
import { WatchIndex } from '../../watch/watch-index.ts'
import type { OwnWatch, WatchedName, WatchRejection } from '../port/watch/watches.ts'
import { type LedgerRead, ledgerStatements, row, rows, run, type Transaction } from './session.ts'

const COLUMNS = 'id, kind, value, threshold, types, created, muted'
/** Changes of which the removed watches are kept. A writer that is further behind reads all watches again. */
const KEPT_CHANGES = 10_000

export const WATCHES = ledgerStatements('watch', {
  all: `select ${COLUMNS} from watch where account = $1 order by id`,
  one: `select ${COLUMNS} from watch where account = $1 and id = $2`,
  counts: 'select kind, count(*) as watches from watch where account = $1 group by kind',
  lockAccount: 'select id from account where id = $1 for update',
  /** First in each change, so that changes become visible in the order of their numbers. */
  raiseVersion: 'update watch_version set version = version + 1 returning version',
  insert: `insert into watch (account, kind, value, threshold, types, created, version)
    select id, $2, $3, $4, $5, $6, $7 from account where id = $1 on conflict do nothing returning ${COLUMNS}`,
  mute: `update watch set muted = $3, version = $4 where account = $1 and id = $2 returning ${COLUMNS}`,
  remove: 'delete from watch where account = $1 and id = $2',
  noteRemoval: 'insert into watch_removal (version, watch) values ($1, $2)',
  forgetRemovals: 'delete from watch_removal where version <= $1',

  names: `select id, account, value as name from watch
    where muted is null and kind in ('name', 'text') and id > $1 order by id limit $2`,

  version: 'select version from watch_version',
  changed: 'select id, account, kind, value, threshold, types, muted from watch where version > $1 order by id',
  removed: 'select watch from watch_removal where version > $1',
})

/** Removes the watches of an account, in this order. */
export const WATCH_REMOVALS = ledgerStatements('watch.of-account', {
  raiseVersion: `update watch_version set version = version + 1
    where exists (select 1 from watch where account = $1)`,
  noteRemovals: `insert into watch_removal (version, watch)
    select v.version, w.id from watch w, watch_version v where w.account = $1`,
  remove: 'delete from watch where account = $1',
})

type WatchRow = Omit<OwnWatch, 'types'> & { types: string | null }

function ruleTypes({ types }: { types: string | null }): DifferenceType[] | null {
  return types === null ? null : (types.split(',') as DifferenceType[])
}

function ownWatch(found: WatchRow): OwnWatch {
  return { ...found, types: ruleTypes(found) }
}

export function watchReads(read: LedgerRead) {
  return {
    watches: async (account: number): Promise<OwnWatch[]> =>
      (await read<WatchRow>(WATCHES.all, [account])).map(ownWatch),
    watch: async (account: number, watch: number): Promise<OwnWatch | null> =>
      (await read<WatchRow>(WATCHES.one, [account, watch])).map(ownWatch)[0] ?? null,
    watchedNames: (after: number, limit: number) => read<WatchedName>(WATCHES.names, [after, limit]),
  }
}

function* raisedVersion(): Transaction<number> {
  return (yield* row<{ version: number }>(WATCHES.raiseVersion, []))!.version
}

export const watchTransactions = {
  *createWatch(
    now: Instant,
    max: number,
    account: number,
    { kind, value, threshold, types }: WatchRule,
  ): Transaction<OwnWatch | WatchRejection> {
    yield* run(WATCHES.lockAccount, [account])
    const counts = yield* rows<{ kind: WatchKind; watches: number }>(WATCHES.counts, [account])
    const used = counts.reduce((sum, each) => sum + watchWeight(each.kind) * each.watches, 0)
    if (used + watchWeight(kind) > max) return 'too_many_watches'
    const values = [account, kind, value, threshold, types?.join(',') ?? null, now, yield* raisedVersion()]
    const created = yield* row<WatchRow>(WATCHES.insert, values)
    return created === undefined ? 'known_watch' : ownWatch(created)
  },

  *removeWatch(_now: Instant, account: number, watch: number): Transaction<boolean> {
    const version = yield* raisedVersion()
    if ((yield* run(WATCHES.remove, [account, watch])) === 0) return false
    yield* run(WATCHES.noteRemoval, [version, watch])
    yield* run(WATCHES.forgetRemovals, [version - KEPT_CHANGES])
    return true
  },

  *muteWatch(now: Instant, account: number, watch: number, isMuted: boolean): Transaction<OwnWatch | null> {
    const muted = yield* row<WatchRow>(WATCHES.mute, [account, watch, isMuted ? now : null, yield* raisedVersion()])
    return muted === undefined ? null : ownWatch(muted)
  },
}

/** The watches in the memory of a writer of observations. `version`: the last change that it knows. */
export class KnownWatches {
  index = new WatchIndex()
  version = 0
}

/**
 * Reads the changes of the watches since the last call. Every watch that was created before the transaction began is in
 * the index then.
 */
export function* refreshWatches(known: KnownWatches): Transaction<WatchIndex> {
  const { version } = (yield* row<{ version: number }>(WATCHES.version, []))!
  if (version === known.version) return known.index
  const isAll = known.version === 0 || version - known.version > KEPT_CHANGES
  const after = isAll ? 0 : known.version
  const changed = yield* rows<Watch & { types: string | null; muted: Instant | null }>(WATCHES.changed, [after])
  const removed = isAll ? [] : yield* rows<{ watch: number }>(WATCHES.removed, [after])
  if (version <= known.version) return known.index // another transaction has read more meanwhile
  if (isAll) known.index = new WatchIndex()
  for (const { muted, id, account, kind, value, threshold, types } of changed) {
    const isMatched = muted === null && WATCH_KINDS.includes(kind) // a later release may have further kinds
    // written out, because objects that are copied from rows are slow to read
    if (isMatched) known.index.set({ id, account, kind, value, threshold, types: ruleTypes({ types }) })
    else known.index.remove(id)
  }
  for (const { watch } of removed) known.index.remove(watch)
  known.version = version
  return known.index
}
