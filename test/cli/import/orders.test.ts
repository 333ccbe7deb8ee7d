/** Tests that the lines of other tools, in any order, give the same result as the observation file. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { collectSightings } from '../../../src/import/collect-sightings.ts'
import { IMPORT_FORMATS, type ImportFormatName } from '../../../src/import/formats/import-formats.ts'
import { preparedFromColumns } from '../../../src/import/observation-columns.ts'
import { parseObservation } from '../../../src/observe/observation-parser.ts'
import { ingest, ingestPrepared } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { answersOf } from '../answers.ts'
import {
  cofLines,
  type History,
  histories,
  massdnsFullLines,
  massdnsJsonLines,
  massdnsSimpleLines,
  observationLine,
  type Visit,
  type Writer,
  zdnsLines,
} from './formats.ts'

const BEGIN = 1_600_000_000
const LATEST = 1_900_000_000
/** So little memory that the temporary file is used. */
const LITTLE = 1000

const folder = mkdtempSync(join(tmpdir(), 'domaindex-formats-'))
const open = (file: string) =>
  openStore(`sqlite:${join(folder, file)}`, { access: 'write', ledger: 'own', secret: null })
const ours = await open('ours.db')
const theirs = await open('theirs.db')
after(async () => {
  await ours.close()
  await theirs.close()
  rmSync(folder, { recursive: true })
})

let names = 0

for (const [what, format, write, adapt] of [
  ['zdns', 'zdns', zdnsLines, asIs],
  ['massdns -o J', 'massdns', massdnsJsonLines, withOnePart],
  ['massdns -o F', 'massdns', massdnsFullLines, asIs],
  ['massdns -o Sr', 'massdns', massdnsSimpleLines, asIs],
  ['passive DNS', 'cof', cofLines, withoutAbsence],
] satisfies [string, ImportFormatName, Writer, (visit: Visit) => Visit[]][]) {
  test(`the lines of ${what} give the same result in any order as the observation file`, async () => {
    const worlds = fc.tuple(
      fc.array(histories, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(), { minLength: 99, maxLength: 99 }),
    )
    await fc.assert(
      fc.asyncProperty(worlds, async ([given, order]) => {
        const visits = given.flatMap(visitsOf).flatMap(adapt)
        const entries = visits.flatMap(write).map((text, index) => ({ text, place: order[index % order.length]! }))
        const lines = entries.toSorted((a, b) => a.place - b.place).flatMap(({ text }) => text.split('\n'))
        await importInto(theirs, format, lines)
        const native = format === 'cof' ? visits.flatMap(firstAndLast) : visits
        const observations = native.map((visit) => parseObservation(observationLine(visit)))
        await ingest(
          ours,
          observations.map((each) => (typeof each === 'string' ? assert.fail(each) : each)),
        )
        const asked = [...new Set(visits.map(({ name }) => name))]
        assert.deepEqual(await answersOf(theirs, asked), await answersOf(ours, asked))
      }),
      { numRuns: 60 },
    )
  })
}

/** Imports with the collector of the command. */
async function importInto(store: Store, format: ImportFormatName, lines: readonly string[]): Promise<void> {
  const collector = collectSightings(IMPORT_FORMATS[format](null), LITTLE)
  for (const line of lines) {
    const bytes = Buffer.from(line)
    assert.ok(collector.add({ bytes, length: bytes.length }, LATEST), line)
  }
  assert.ok(collector.addLast(LATEST))
  for (const _ of collector.finish()) assert.equal(collector.isFull(), false)
  await ingestPrepared(store, preparedFromColumns(collector.takeBatch().observations))
}

/** Returns the probes of a name that no earlier run used. */
function visitsOf(history: History): Visit[] {
  const name = `name-${names++}.example`
  let at = BEGIN
  return history.map(({ gap, ...visit }) => {
    at += gap
    return { name, at, ...visit }
  })
}

function asIs(visit: Visit): Visit[] {
  return [visit]
}

/** massdns joins the parts of a text. */
function withOnePart(visit: Visit): Visit[] {
  const { TXT, ...sets } = visit.sets
  return [{ ...visit, sets: TXT === undefined ? sets : { ...sets, TXT: TXT.map((parts) => parts.slice(0, 1)) } }]
}

/** Passive DNS reports records that exist, never their absence. */
function withoutAbsence(visit: Visit): Visit[] {
  const sets = Object.fromEntries(Object.entries(visit.sets).filter(([, set]) => set.length > 0))
  return visit.status === 'ok' && Object.keys(sets).length > 0 ? [{ ...visit, sets }] : []
}

function firstAndLast(visit: Visit): Visit[] {
  return [visit, { ...visit, at: visit.at + visit.lasts }]
}
