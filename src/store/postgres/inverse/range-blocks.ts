/** Reads the blocks of the inverse index that may have keys in some ranges. */

import { POSITION_TAIL_BYTES } from '../../../inverse/entries/block.ts'
import type { BlockRequest, RangeBlocks } from '../../inverse/scan.ts'
import { bytesArray } from '../database/arrays.ts'
import type { Session } from '../database/transaction.ts'

/** The block of a run from a position on, with its last key. */
const nextBlockSql = (run: string, from: string): string =>
  `(select last_position as last, entries, substring(last_position for length(last_position) - ${POSITION_TAIL_BYTES}) as key
    from inverse_block where run = ${run} and last_position >= ${from} order by last_position limit 1) b`

/**
 * Walks each published run over the ranges from `$1` to `$2`: the next block begins after the last one if its range goes
 * on there and has fewer than `$3` blocks, otherwise at the next range. `cut`: the range had more. `$4`: rows at most.
 */
const READ_RANGE_BLOCKS = {
  name: 'inverse.range-blocks',
  text: `with recursive block(run, last, entries, key, range, blocks) as (
      select r.number, b.last, b.entries, b.key, width_bucket(b.key, $2::bytea[]) + 1, 1
      from inverse_run r cross join lateral ${nextBlockSql('r.number', '($1::bytea[])[1]')}
      where r.state = 'published'
      union all
      select w.run, b.last, b.entries, b.key, n.range,
        case when n.range = w.range and n.isInside then w.blocks + 1 else 1 end
      from block w
      cross join lateral (select ($1::bytea[])[w.range] <= w.key as goes_on) c
      cross join lateral (select case
          when not c.goes_on then ($1::bytea[])[w.range]
          when w.blocks < $3 then w.last || '\\x00'::bytea
          else ($1::bytea[])[w.range + 1] end as at) f
      cross join lateral ${nextBlockSql('w.run', 'f.at')}
      cross join lateral (select width_bucket(b.key, $2::bytea[]) + 1 as range, c.goes_on as isInside) n
    )
    select run, entries, blocks >= $3 and ($1::bytea[])[range] <= key as cut from (select * from block limit $4) b
    order by run, last`,
}

type BlockRow = { run: number; entries: Uint8Array; cut: boolean | null }

/** Answers the request for blocks, with one statement. */
export async function readRangeBlocks(
  session: Pick<Session, 'rows'>,
  { ranges, most, total }: BlockRequest,
): Promise<RangeBlocks> {
  const bounds = [ranges.map(({ from }) => from), ranges.map(({ to }) => to)].map(bytesArray)
  const rows = await session.rows<BlockRow>(READ_RANGE_BLOCKS, [...bounds, most, total + 1])
  const isComplete = rows.length <= total && rows.every(({ cut }) => !cut)
  const byRun = Map.groupBy(rows.slice(0, total), ({ run }) => run)
  return { runs: [...byRun.values()].map((blocks) => blocks.map(({ entries }) => entries)), isComplete }
}
