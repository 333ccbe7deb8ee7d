/** The simulation of the whole service: seeds without a fault, and the faults that it has found before. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inForm } from '../long.ts'
import { FOUND, FOUND_SEEDS } from './found.ts'
import { FAULTS } from './planted.ts'
import { describe, runSeed, runSteps, shrink } from './simulation.ts'

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

for (const [fault, [seed, steps]] of Object.entries(FOUND_SEEDS))
  test(`a fault that a seed found before does not come back: ${fault}`, async () => {
    const failure = await runSeed(seed, steps)
    assert.equal(failure && describe(failure), null)
  })

for (const name of ['finished files are not synced', 'observations are acknowledged before they are written'])
  test(`a planted fault is found, and its steps are made fewer: ${name}`, async () => {
    const fault = FAULTS.find((each) => each.name === name)!
    const failure = await runSeed(1, STEPS, fault)
    assert.ok(failure, 'it was not found')
    const shrunken = await shrink(failure, fault, 30)
    assert.ok(shrunken.steps.length <= failure.place + 1)
    assert.match(describe(shrunken), /^seed 1, step \d+: .+\n {2}\{"kind":/s)
    assert.ok((await runSteps(1, shrunken.steps, fault)) !== null, 'the fewer steps fail too')
    assert.equal(await runSteps(1, shrunken.steps), null, 'without the fault, they do not fail')
  })
