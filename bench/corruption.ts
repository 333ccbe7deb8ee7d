/**
 * `npm run bench:corruption`: flips random bits in stores, damages rows and pages, and reads every response. A wrong
 * response must never come from a store in which `check` finds nothing. Stores with damaged rows and pages are repaired:
 * if nothing is left, every response must be that of the whole store.
 * Options: `--stores N --flips N --names N --seed N`, and for the repaired stores `--rows N --pages N --postgres N`. A
 * call that fails is not a wrong response before a repair. The bench prints each store that breaks the rule.
 */

import { closeSync, copyFileSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { SYSTEM_CLOCK } from '../src/server/system-clock.ts'
import { indexOnce } from '../src/similar/index/run-indexer.ts'
import { openSimilarityService, type SimilarityService } from '../src/similar/query/similarity-service.ts'
import { ingest } from '../src/store/ingest.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/port/store.ts'
import type { DomainName } from '../src/values/domain-name.ts'
import { RECORD_TYPES } from '../src/values/records/dns-record.ts'
import { parsePage } from '../test/store/conformance/reading/paging.ts'
import { dns, name, redirecting, seen, soa, web } from '../test/store/conformance/world.ts'
import { type Tally, tryOnPostgres, tryOnSqlite } from './corruption/trials.ts'
import { readTexts } from './measure/options.ts'
import { metric, report } from './measure/report.ts'
import { type RandomSource, randomInt, seededRandom } from './world/random.ts'

const ALL_ROWS = 1_000_000
const WORDS = ['bread', 'cake', 'harbour', 'mill', 'bank', 'forest', 'river', 'lamp', 'stone', 'glass', 'paper', 'wind']
const values = readTexts({
  stores: '200',
  flips: '4',
  names: '200',
  seed: '1',
  rows: '200',
  pages: '100',
  postgres: '50',
})
const NAMES = Array.from({ length: Number(values.names) }, (_, n) => name(`n${n}.example`))
const TARGETS = Array.from({ length: 7 }, (_, n) => name(`t${n}.example`))

const folder = mkdtempSync(join(tmpdir(), 'domaindex-corruption-'))
const originalPath = join(folder, 'original.db')
const OPTIONS = { ledger: 'own', secret: 'a secret for the bench that is long enough' } as const
const OUTCOMES = {
  rejected: 'rejected when the store was opened',
  foundWrong: 'check found it, and a response was wrong',
  foundRight: 'check found it, and every response was right',
  missedRight: 'check found nothing, and every response was right',
  missedWrong: 'check found nothing, and a response was wrong',
} as const
type Outcome = keyof typeof OUTCOMES
const counts: Record<Outcome, number> = { rejected: 0, foundWrong: 0, foundRight: 0, missedRight: 0, missedWrong: 0 }
try {
  await createStore()
  const expected = await readAllAnswers(originalPath)
  for (let number = 0; number < Number(values.stores); number++)
    await testStore(number, expected as Map<string, unknown>)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
const repaired = await tryRepairs()
const metrics = Object.entries(counts).map(([outcome, count]) => metric(OUTCOMES[outcome as Outcome], count, 'stores'))
report(
  'corruption',
  [...metrics, ...repaired.flatMap((tally) => tally.metrics())],
  [`${values.flips} flipped bits per store, ${values.names} names, seed ${values.seed}`],
  values,
)
if (counts.missedWrong > 0 || repaired.some(({ isWrong }) => isWrong)) process.exitCode = 1

/** Damages rows and pages and repairs them. */
async function tryRepairs(): Promise<Tally[]> {
  const inside = mkdtempSync(join(tmpdir(), 'domaindex-repairs-'))
  const [seed, rows, pages, postgres] = [values.seed, values.rows, values.pages, values.postgres].map(Number)
  try {
    const tallies = await tryOnSqlite(inside, seed!, rows!, pages!)
    return postgres! > 0 ? [...tallies, await tryOnPostgres(seed!, postgres!)] : tallies
  } finally {
    rmSync(inside, { recursive: true, force: true })
  }
}

async function createStore(): Promise<void> {
  const store = await openStore(`sqlite:${originalPath}`, { ...OPTIONS, access: 'write' })
  const random = seededRandom(Number(values.seed), 0, 0)
  for (const round of [1, 2, 3])
    await ingest(
      store,
      NAMES.map((each, n) => observationOf(each, n, round, random)),
    )
  const reporter = { progress: () => {} }
  await indexOnce({ store, holder: 'bench', clock: SYSTEM_CLOCK, reporter }, new AbortController().signal)
  await store.close()
}

function observationOf(each: DomainName, n: number, round: number, random: RandomSource) {
  const text = Array.from({ length: 20 }, () => WORDS[randomInt(random, WORDS.length)]).join(' ')
  const records = {
    A: [`192.0.2.${(n + (n % 9 === 0 ? round : 0)) % 250}`],
    AAAA: n % 3 === 0 ? [`2001:db8::${n % 40}`] : [],
    MX: [{ priority: 10, mail_server: `mx${n % 5}.example` }],
    TXT: [[`round ${n % 4 === 0 ? round : 0}`]],
    NS: ['ns1.example', 'ns2.example'],
    SOA: [soa(round)],
  }
  const site = n % 5 === 0 ? redirecting(`t${n % 7}.example`) : web({ has_website: true, text, ssl: 'valid' })
  return seen(each, round, dns(records), site)
}

/** Returns null if the store cannot be opened. */
async function readAllAnswers(path: string): Promise<Map<string, unknown> | null> {
  const store = await openStore(`sqlite:${path}`, { ...OPTIONS, access: 'read' }).catch(() => null)
  if (store === null) return null
  const answers = new Map<string, unknown>()
  try {
    const similar = openSimilarityService(store)
    for (const each of [...NAMES, ...TARGETS]) await collectAnswers(store, similar, each, answers)
  } finally {
    await store.close().catch(() => {})
  }
  return answers
}

/** Leaves out calls that fail. */
async function collectAnswers(
  { facts }: Store,
  similar: SimilarityService,
  each: DomainName,
  answers: Map<string, unknown>,
): Promise<void> {
  const calls: [string, () => Promise<unknown>][] = [
    ['lookup', async () => ({ ...(await facts.lookup(each)), dns: null, web: null })],
    ['clocks', () => facts.clocks(each)],
    ['redirect', async () => parsePage(await facts.redirects(each, null, ALL_ROWS)).rows],
    ['reverseip', async () => parsePage((await facts.neighboursOf(each, null, ALL_ROWS)).page).rows],
    ['dnshistory', () => facts.history(each, RECORD_TYPES, null, ALL_ROWS)],
    ['similar', () => similar.similar(each, 100)],
  ]
  for (const [what, call] of calls) {
    try {
      answers.set(`${what} ${each}`, await call())
    } catch {
      // the API responds to a failed call with 500, which is not a wrong response
    }
  }
}

async function testStore(number: number, expected: Map<string, unknown>): Promise<void> {
  const path = join(folder, `store-${number}.db`)
  for (const suffix of ['', '-ledger'])
    copyFileSync(originalPath.replace('.db', `${suffix}.db`), path.replace('.db', `${suffix}.db`))
  const offsets = flipBits(path, seededRandom(Number(values.seed), number + 1, 1))
  const faults = await countFaults(path)
  const answers = faults === null ? null : await readAllAnswers(path)
  const wrong =
    answers === null ? [] : [...answers].filter(([what, answer]) => !isDeepStrictEqual(answer, expected.get(what)))
  const outcome = outcomeOf(faults, answers !== null, wrong.length)
  counts[outcome]++
  if (outcome === 'missedWrong')
    console.log(`store ${number}: ${wrong.map(([what]) => what).slice(0, 4)}; ${tablesOf(offsets)}`)
  for (const file of ['', '-wal', '-shm']) rmSync(path + file, { force: true })
}

function outcomeOf(faults: number | null, isOpen: boolean, wrong: number): Outcome {
  if (faults === null || !isOpen) return 'rejected'
  if (faults > 0) return wrong > 0 ? 'foundWrong' : 'foundRight'
  return wrong > 0 ? 'missedWrong' : 'missedRight'
}

/** Returns the number of faults, or null if the store cannot be opened. */
async function countFaults(path: string): Promise<number | null> {
  const store = await openStore(`sqlite:${path}`, { ...OPTIONS, access: 'read' }).catch(() => null)
  if (store === null) return null
  try {
    let faults = 0
    let resume: string | null = null
    do {
      const slice: Awaited<ReturnType<Store['maintenance']['check']>> = await store.maintenance.check(resume)
      faults += slice.faults.length
      resume = slice.next
    } while (resume !== null)
    return faults
  } finally {
    await store.close().catch(() => {})
  }
}

/** Returns the offsets of the flipped bits. */
function flipBits(path: string, random: RandomSource): number[] {
  const file = openSync(path, 'r+')
  const { size } = statSync(path)
  const offsets = Array.from({ length: Number(values.flips) }, () => randomInt(random, size))
  const byte = Buffer.alloc(1)
  for (const offset of offsets) {
    readSync(file, byte, 0, 1, offset)
    byte[0]! ^= 1 << randomInt(random, 8)
    writeSync(file, byte, 0, 1, offset)
  }
  closeSync(file)
  return offsets
}

/** Names the tables whose pages hold the offsets, according to the original store. */
function tablesOf(offsets: readonly number[]): string {
  const database = new DatabaseSync(originalPath, { readOnly: true })
  const page = database.prepare('select name, pagetype from dbstat where pageno = ?')
  const tables = offsets.map((offset) => {
    const { name: table = 'free', pagetype = '' } = page.get(Math.floor(offset / 4096) + 1) ?? {}
    return `${table} ${pagetype} ${offset % 4096}`
  })
  database.close()
  return tables.join(', ')
}
