/** The runs of the inverse index on PostgreSQL: their blocks, and the run that a transaction adds. */

import type { FactChanges } from '../../../apply/change.ts'
import { type Block, bytesOfBlocks } from '../../../inverse/entries/block.ts'
import type { Certificate } from '../../../values/certificate/certificate.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { RunWriter } from '../../inverse/run-writer.ts'
import type { InverseRead } from '../../inverse/scan.ts'
import type { InverseProgress, RunSlice } from '../../port/inverse.ts'
import { bytesArray } from '../database/arrays.ts'
import { PART_VALUES } from '../database/partition.ts'
import type { Session } from '../database/transaction.ts'

/** The blocks of each run from the first one that ends at `$1` or later, at most `$2`. */
const slicesSql = (runs: string): string =>
  `select b.run, b.last_position as last, b.entries from inverse_run r
    cross join lateral (select run, last_position, entries from inverse_block
      where run = r.number and last_position >= $1 order by last_position limit $2) b
    where ${runs} order by b.run, b.last_position`
const READ_SLICES = { name: 'inverse.slices', text: slicesSql(`r.state = 'published'`) }
const READ_SLICES_OF = { name: 'inverse.slices-of', text: slicesSql('r.number = any ($3::bigint[])') }
const INSERT_RUN = {
  name: 'inverse.insert',
  text: `with r as (insert into inverse_run (state, fence, bytes) values ('published', 0, $1) returning number)
    insert into inverse_block (run, last_position, entries)
    select r.number, k.last, k.entries from r, unnest($2::bytea[], $3::bytea[]) as k(last, entries)`,
}

type SliceRow = { run: number; last: Uint8Array; entries: Uint8Array }

const READ_PROGRESS = {
  name: 'inverse.progress',
  text: `select name, value from metadata where name in ('inverse_fill', 'certificate_fill', 'name_fill')`,
}

/** How far a store that is older than its index is filled. */
export async function fillProgress(rows: Session['rows']): Promise<InverseProgress> {
  const found = await rows<{ name: string; value: string }>(READ_PROGRESS)
  const shareOf = (fill: string): number => {
    const row = found.find(({ name }) => name === fill)
    return row === undefined ? 1 : (JSON.parse(row.value) as [number])[0] / PART_VALUES.length
  }
  const hasCertificates = found.every(({ name }) => name !== 'certificate_fill')
  return { share: hasCertificates ? (shareOf('inverse_fill') + shareOf('name_fill')) / 2 : 0 }
}

/** At most `blocks` blocks of each of the runs, by default of the published ones. */
export async function readSlices(
  session: Pick<Session, 'rows'>,
  from: Uint8Array,
  blocks: number,
  runs: readonly number[] | null = null,
): Promise<RunSlice[]> {
  const values = runs === null ? [from, blocks] : [from, blocks, runs]
  const rows = await session.rows<SliceRow>(runs === null ? READ_SLICES : READ_SLICES_OF, values)
  const slices: RunSlice[] = []
  for (let index = 0; index < rows.length; ) {
    const { run } = rows[index]!
    const ofRun: Uint8Array[] = []
    for (; rows[index]?.run === run; index++) ofRun.push(rows[index]!.entries)
    slices.push({ blocks: ofRun, last: rows[index - 1]!.last, more: ofRun.length === blocks })
  }
  return slices
}

/** Answers a read of keys inside of a transaction. */
export async function answerKeyRead<Result>(session: Session, read: InverseRead<Result>): Promise<Result> {
  let step = read.next([])
  while (!step.done) {
    if (step.value.needs !== 'slices') throw new Error(`a read of keys asked for ${step.value.needs}`)
    step = read.next(await readSlices(session, step.value.from, step.value.blocks))
  }
  return step.value
}

/**
 * What a transaction adds: names that were not known, changes of names, new certificates, and hosts that records name
 * besides those of the changes.
 */
type Added = {
  hosts?: readonly string[]
  names?: readonly DomainName[]
  changed?: readonly { name: DomainName; facts: FactChanges }[]
  certificates?: readonly Certificate[]
}

/** Adds a run. */
export async function writeRun(
  session: Session,
  { names = [], changed = [], certificates = [], hosts = [] }: Added,
): Promise<void> {
  const writer = new RunWriter()
  for (const each of certificates) writer.addCertificate(each)
  for (const name of names) writer.addName(name)
  for (const host of hosts) writer.addKnownHost(host)
  for (const { name, facts } of changed) writer.addChanges(name, facts.setChanges)
  await insertRun(session, writer.finish())
}

/** Inserts a published run, if it has blocks. */
export async function insertRun(session: Session, blocks: readonly Block[]): Promise<void> {
  if (blocks.length > 0) await session.run(INSERT_RUN, [bytesOfBlocks(blocks), ...blockArrays(blocks)])
}

/** The positions and the entries of blocks. */
export function blockArrays(blocks: readonly Block[]): [lasts: string, entries: string] {
  return [bytesArray(blocks.map(({ last }) => last)), bytesArray(blocks.map(({ bytes }) => bytes))]
}
