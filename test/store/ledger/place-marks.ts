/** The marks of places for files: one per place, the same for all processes. */

import assert from 'node:assert/strict'
import { type LedgerEngine, on } from './engine.ts'

export function placeMarks(engine: LedgerEngine): void {
  on(engine, 'of several processes that claim a place, one gets it, and all find its mark', async (world) => {
    const { ledger, another } = world
    assert.equal(await ledger.placeMark('files'), null)
    const handles = [ledger, await another(), await another()]
    const claimed = await Promise.all(handles.map((each, index) => each.claimPlace('files', `mark ${index}`, null)))
    assert.match(claimed[0]!, /^mark [012]$/)
    for (const mark of claimed) assert.equal(mark, claimed[0])
    for (const each of handles) assert.equal(await each.placeMark('files'), claimed[0])
    assert.equal(await ledger.placeMark('zones'), null)
  })

  on(engine, 'a mark is replaced only by one who knows it', async ({ ledger, another }) => {
    await ledger.claimPlace('inbox', 'first', null)
    assert.equal(await ledger.claimPlace('inbox', 'second', 'other'), 'first')
    assert.equal(await ledger.claimPlace('inbox', 'second', null), 'first')
    assert.equal(await ledger.claimPlace('inbox', 'second', 'first'), 'second')
    assert.equal(await (await another()).placeMark('inbox'), 'second')
  })
}
