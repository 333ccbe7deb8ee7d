/** Many nodes over one PostgreSQL: they die, freeze, lose their network and have wrong clocks. */

import { test } from 'node:test'
import { isLong } from '../long.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { assertOutcome } from './outcome.ts'
import { Simulation } from './simulation.ts'

if (!noPostgres) await postgresServer() // for the whole file

/**
 * The seeds of every run; the short form has only 3. 2 and 3: an API node is cut off while it holds units and another one is called, so its units
 * expire and must come back. In 2, the other API node and a crawler die too; in 3, a job scheduler and a crawler.
 */
const SEEDS = isLong ? [2, 3] : [3]

/** `DOMAINDEX_TEST_SEEDS=100-200` runs these seeds instead. */
const [first, last] = process.env.DOMAINDEX_TEST_SEEDS?.split('-').map(Number) ?? []
const seeds =
  first === undefined ? SEEDS : Array.from({ length: (last ?? first) - first + 1 }, (_, index) => first + index)

for (const seed of seeds)
  test(`seed ${seed}: no old write lands, no unit is given twice or lost, and nothing is built twice`, {
    skip: noPostgres,
  }, async (t) => {
    const { url, drop } = await (await postgresServer()).tables()
    t.after(drop)
    const simulation = new Simulation(seed, url)
    await simulation.run()
    await assertOutcome(simulation, url)
  })
