/** Reads the inverse index on PostgreSQL, each page from one snapshot. */

import { readNames } from '../../inverse/name-reader.ts'
import { readNamesOfParts } from '../../inverse/parts-reader.ts'
import type { InverseRead } from '../../inverse/scan.ts'
import { readNamedHosts, readPresented, readRedirects, readSpans } from '../../inverse/span-reader.ts'
import type { InverseReader } from '../../port/inverse.ts'
import { NO_STORED_CLOCKS, type StoredClocks } from '../../shared/columns.ts'
import type { ClockRow } from '../../shared/lookup.ts'
import type { Database } from '../database/database.ts'
import { type NameKey, readForRows } from '../database/row-statements.ts'
import { keyOfName, READ_PART_CLOCKS } from '../facts/observations.ts'
import { readRangeBlocks } from './range-blocks.ts'
import { fillProgress, readSlices } from './run.ts'

export function postgresInverse(database: Database): InverseReader {
  const answer = async <Result>(read: () => InverseRead<Result>): Promise<Result> => {
    const shards = await database.shards()
    return database.snapshot(async (session) => {
      const questions = read()
      let step = questions.next([])
      while (!step.done) {
        const request = step.value
        if (request.needs === 'slices') step = questions.next(await readSlices(session, request.from, request.blocks))
        else if (request.needs === 'blocks') step = questions.next(await readRangeBlocks(session, request))
        else {
          const keys = request.names.map(keyOfName)
          type NamedClocks = ClockRow & { name: string }
          const rows = await readForRows<NamedClocks, NameKey>(session.rows, shards, READ_PART_CLOCKS, keys)
          const byName = new Map(rows.map((row): [string, StoredClocks] => [row.name, [row.clock, row.other_clocks]]))
          step = questions.next(request.names.map((name) => byName.get(name) ?? NO_STORED_CLOCKS))
        }
      }
      return step.value
    })
  }
  return {
    spans: (query, fence, position, limit) => answer(() => readSpans(query, fence, position, limit)),
    redirects: (target, fence, position, limit) => answer(() => readRedirects(target, fence, position, limit)),
    presented: (sha256, position, limit) => answer(() => readPresented(sha256, position, limit)),
    namedHosts: (name, position, limit) => answer(() => readNamedHosts(name, position, limit)),
    names: (query, filter, position, limit) => answer(() => readNames(query, filter, position, limit)),
    namesOfParts: (parts) => answer(() => readNamesOfParts(parts)),
    progress: () => fillProgress(database.read),
  }
}
