/** Damages rows and pages of whole stores, one store after another: what check finds, and what a repair mends. */

import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { createPostgresWorld } from '../../test/store/damage/postgres-store.ts'
import { DAMAGE_KINDS, type DamagedTable, rowDamage } from '../../test/store/damage/random-damage.ts'
import { createSqliteWorld, type SqliteWorld } from '../../test/store/damage/sqlite-store.ts'
import {
  type Answers,
  answersOf,
  type DamagedStore,
  type Outcome,
  tryDamage,
  type Verdict,
} from '../../test/store/damage/trial.ts'
import { isUnconfirmed } from '../../test/store/damage/unconfirmed.ts'
import { postgresServer } from '../../test/store/postgres/server.ts'
import { type Metric, metric } from '../measure/report.ts'
import { type RandomSource, randomInt, seededRandom } from '../world/random.ts'

const TEXTS: Record<Verdict | 'unconfirmed', string> = {
  rejected: 'rejected when the store was opened',
  untouched: 'check found nothing, and every response was right',
  mended: 'repaired: check finds nothing, and every response is that of the whole store',
  left: 'the repair said what it could not mend',
  unconfirmed: 'a response was wrong, and nothing in the store contradicted it',
  missed: 'check found nothing, and a response was wrong',
  failed: 'check or the repair failed',
  misled: 'nothing was left after the repair, and a response was wrong',
}
const PAGE_BYTES = 4096
const SECTOR_BYTES = 512

/** Counts the verdicts of one kind of damage. `isWrong`: a response was wrong without a reason. */
export class Tally {
  isWrong = false
  readonly #what: string
  readonly #counts = new Map<keyof typeof TEXTS, number>()

  constructor(what: string) {
    this.#what = what
  }

  add(trial: number, damage: string, { verdict, wrong, faults }: Outcome, unconfirmed: boolean): void {
    const isBad = ['missed', 'misled', 'failed'].includes(verdict)
    const counted = isBad && unconfirmed && verdict !== 'failed' ? 'unconfirmed' : verdict
    this.#counts.set(counted, (this.#counts.get(counted) ?? 0) + 1)
    if (counted !== verdict || !isBad) return
    this.isWrong = true
    console.log(`${this.#what} ${trial}: ${damage}: ${verdict}: ${wrong.slice(0, 3)}; ${faults.slice(0, 2)}`)
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  metrics(): Metric[] {
    return Object.entries(TEXTS).map(([verdict, text]) =>
      metric(`${this.#what}: ${text}`, this.#counts.get(verdict as Verdict) ?? 0, 'stores'),
    )
  }
}

/** Damages a row of `stores` SQLite stores, then a page of `pages` ones. */
export async function tryOnSqlite(folder: string, seed: number, stores: number, pages: number): Promise<Tally[]> {
  const world = await createSqliteWorld(folder)
  const whole = await wholeAnswers(async () => world.copy())
  const rows = await tryRows('SQLite, a row', world.tables, async () => world.copy(), { seed, stores, whole })
  const tally = new Tally('SQLite, a page')
  for (let trial = 0; trial < pages; trial++) {
    const copy = world.copy()
    const damage = damagePage(copy.path, world, seededRandom(seed, trial, 2))
    tally.add(trial, damage, await tryDamage(copy, whole), false)
    await copy.drop()
  }
  return [rows, tally]
}

/** Damages a row of a derived table of `stores` PostgreSQL stores. */
export async function tryOnPostgres(seed: number, stores: number): Promise<Tally> {
  const world = await createPostgresWorld(await postgresServer())
  const whole = await wholeAnswers(world.copy)
  const tally = await tryRows('PostgreSQL, a row', world.tables, world.copy, { seed, stores, whole })
  await world.drop()
  return tally
}

async function wholeAnswers(copy: () => Promise<DamagedStore>): Promise<Answers> {
  const undamaged = await copy()
  const store = await undamaged.open()
  const answers = await answersOf(store, true)
  await store.close()
  await undamaged.drop()
  return answers
}

/** Tables and kinds of damage in turn, until so many stores were damaged. */
async function tryRows(
  what: string,
  tables: readonly DamagedTable[],
  copy: () => Promise<DamagedStore>,
  { seed, stores, whole }: { seed: number; stores: number; whole: Answers },
): Promise<Tally> {
  const tally = new Tally(what)
  for (let trial = 0; tally.total < stores; trial++) {
    const random = seededRandom(seed, trial, 1)
    const kind = DAMAGE_KINDS[trial % DAMAGE_KINDS.length]!
    const table = tables[Math.floor(trial / DAMAGE_KINDS.length) % tables.length]!
    const damage = rowDamage(kind, table, (limit) => randomInt(random, limit))
    if (damage === null) continue
    const damaged = await copy()
    if (await damaged.plant(damage))
      tally.add(trial, `${kind} of ${damage.what}`, await tryDamage(damaged, whole), isUnconfirmed(damage))
    await damaged.drop()
  }
  return tally
}

/** A page, or its end from a sector on, is that of an earlier time, or empty if there was none. */
function damagePage(path: string, { before }: SqliteWorld, random: RandomSource): string {
  const file = openSync(path, 'r+')
  const page = randomInt(random, statSync(path).size / PAGE_BYTES)
  const from = randomInt(random, 2) === 0 ? 0 : SECTOR_BYTES * (1 + randomInt(random, PAGE_BYTES / SECTOR_BYTES - 1))
  const bytes = Buffer.alloc(PAGE_BYTES - from)
  const older = openSync(before, 'r')
  readSync(older, bytes, 0, bytes.length, page * PAGE_BYTES + from)
  closeSync(older)
  writeSync(file, bytes, 0, bytes.length, page * PAGE_BYTES + from)
  closeSync(file)
  return `page ${page + 1} from byte ${from}`
}
