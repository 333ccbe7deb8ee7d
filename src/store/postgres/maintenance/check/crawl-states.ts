/**
 * Checks crawl states: each row is in the slot and partition of its name, and its id is that of the facts of its name.
 */

import type { DomainName } from '../../../../values/domain-name.ts'
import { type CheckedCrawlState, checkCrawlStateRows } from '../../../shared/check/rows.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import { readRuns } from '../../database/citus/part-runs.ts'
import { partitionOfSlot } from '../../database/partition.ts'
import { runStatement } from '../../database/row-statements.ts'
import type { Shards } from '../../database/shards.ts'
import type { Session } from '../../database/transaction.ts'

const CHECK_CRAWL_STATES = runStatement(
  'check.crawl-states',
  4,
  ({ inRun, inShard }) =>
    `select v.part, v.slot, v.name, v.id, f.name as owner from crawl_state v
    left join facts f on f.part = v.part and f.id = v.id and ${inShard('f.part')}
    where (v.part, v.slot, v.name) > ($1, $2, $3) and ${inRun('v.part')} order by v.part, v.slot, v.name limit $4`,
)

export async function checkCrawlStatesPostgres(
  session: Session,
  after: string | null,
  limit: number,
  shards: Shards,
): Promise<CheckSlice> {
  const [part, slot, name] = after === null ? [-1, -1, ''] : (JSON.parse(after) as [number, number, DomainName])
  const rows = await readRuns(shards, part, limit, (run, max) =>
    session.rows<CheckedCrawlState>(CHECK_CRAWL_STATES, [part, slot, name, max, ...run]),
  )
  return checkCrawlStateRows(rows.map((row) => ({ ...row, rightPart: partitionOfSlot(row.slot) })))
}
