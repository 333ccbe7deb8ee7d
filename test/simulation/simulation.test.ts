/** The simulation of the whole service: seeds without a fault, and the faults that it has found before. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inForm } from '../long.ts'
import { FOUND } from './found.ts'
import { describe, runSeed, runSteps } from './simulation.ts'

/** Steps per seed: the store of a seed stays small. */
const STEPS = 500
const SEEDS = inForm(4, 20)

for (let seed = 1; seed <= SEEDS; seed++)
  test(`the service does what the model says in ${STEPS} steps of seed ${seed}`, async () => {
    const failure = await runSeed(seed, STEPS)
    assert.equal(failure && describe(failure), null)
  })

for (const [fault, steps] of Object.entries(FOUND))
  test(`a fault that was found before does not come back: ${fault}`, async () => {
    const failure = await runSteps(1, steps)
    assert.equal(failure && describe(failure), null)
  })
