/** Random damage to whole stores of both engines: check finds it, and a repair gives the responses of the whole store. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { randomInt, seededRandom } from '../../../bench/world/random.ts'
import { inForm } from '../../long.ts'
import { noPostgres, postgresServer } from '../postgres/server.ts'
import { createPostgresWorld } from './postgres-store.ts'
import { DAMAGE_KINDS, type DamagedTable, type Row, type RowDamage, rowDamage } from './random-damage.ts'
import { createSqliteWorld } from './sqlite-store.ts'
import { type Answers, answersOf, type DamagedStore, tryDamage, type Verdict } from './trial.ts'
import { isUnconfirmed } from './unconfirmed.ts'

/** Tries damage of each kind to tables in turn, from table `first` on. Returns how often each verdict was given. */
async function tryAll(
  tables: readonly DamagedTable[],
  copy: () => Promise<DamagedStore>,
  { trials, first }: { trials: number; first: number },
): Promise<Map<Verdict, number>> {
  const verdicts = new Map<Verdict, number>()
  const whole = await answersOfWhole(copy)
  for (let trial = 0; trial < trials; trial++) {
    const random = seededRandom(7, trial, 0)
    const table = tables[(first + trial) % tables.length]!
    const damage = rowDamage(DAMAGE_KINDS[trial % DAMAGE_KINDS.length]!, table, (limit) => randomInt(random, limit))
    if (damage === null || isUnconfirmed(damage)) continue
    const damaged = await copy()
    if (await damaged.plant(damage)) {
      const { verdict, wrong, faults } = await tryDamage(damaged, whole)
      assert.ok(
        !['missed', 'misled', 'failed'].includes(verdict),
        `trial ${trial}, ${damage.what}: ${verdict}, ${[...wrong, ...faults].slice(0, 3)}`,
      )
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
    }
    await damaged.drop()
  }
  return verdicts
}

/** The index of similar pages knows how many documents it has, the terms of its postings, and the checksums of its rows. */
async function trySegments(tables: readonly DamagedTable[], copy: () => Promise<DamagedStore>): Promise<void> {
  const rowOf = (table: string): Row => tables.find(({ name }) => name === table)!.rows.at(-1)!
  const segment = rowOf('segment')
  const counting = (documents: number): RowDamage => ({
    what: 'segment.documents',
    removed: [segment],
    added: [{ ...segment, documents }],
  })
  const documents = Number(segment.documents)
  const lost = { what: 'document_frequency', removed: [rowOf('document_frequency')], added: [] }
  const changed = (table: string, column: string): RowDamage => {
    const row = rowOf(table)
    const bytes = Uint8Array.from(row[column] as Uint8Array)
    bytes[bytes.length - 1]! ^= 0x10
    return { what: `${table}.${column}`, removed: [row], added: [{ ...row, [column]: bytes }] }
  }
  const changes = [changed('document_frequency', 'counts'), changed('posting', 'postings')]
  const whole = await answersOfWhole(copy)
  for (const damage of [counting(documents + 1), counting(documents - 1), lost, ...changes]) {
    const damaged = await copy()
    assert.ok(await damaged.plant(damage), damage.what)
    const { verdict, faults } = await tryDamage(damaged, whole)
    assert.equal(verdict, 'mended', `${JSON.stringify(damage)}: ${faults.slice(0, 3)}`)
    await damaged.drop()
  }
}

async function answersOfWhole(copy: () => Promise<DamagedStore>): Promise<Answers> {
  const undamaged = await copy()
  const store = await undamaged.open()
  const answers = await answersOf(store, true)
  await store.close()
  await undamaged.drop()
  return answers
}

test('SQLite: no wrong response comes from a store that check or a repair calls whole', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-damage-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const world = await createSqliteWorld(folder)
  for (const { name, rows } of world.tables)
    assert.ok(
      rows.length > 0 || ['document_tombstone', 'orphan_document', 'pending_page', 'sorted_name'].includes(name),
      name,
    )
  const verdicts = await tryAll(world.tables, async () => world.copy(), { trials: inForm(30, 400), first: 0 })
  for (const verdict of ['mended', 'left', 'untouched'] as const) assert.ok(verdicts.get(verdict)! > 1, verdict)
  await trySegments(world.tables, async () => world.copy())
})

test('PostgreSQL: no wrong response comes from a store that check or a repair calls whole', {
  skip: noPostgres,
}, async () => {
  const world = await createPostgresWorld(await postgresServer())
  const verdicts = await tryAll(world.tables, world.copy, { trials: inForm(6, 200), first: 0 })
  assert.ok(verdicts.get('mended')! > 1)
  await trySegments(world.tables, world.copy)
  await world.drop()
})
