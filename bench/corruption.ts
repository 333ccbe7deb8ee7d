/**
 * Flips random bits in stores and asks them everything: none may answer wrongly while `check` is clean.
 * `--stores N --flips N --names N --seed N`. An answer that fails is not a wrong one. What is wrong and clean is
 * printed with the place of its bits.
 */

import { closeSync, copyFileSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { SYSTEM_CLOCK } from '../src/server/system-clock.ts'
import { indexOnce } from '../src/similar/index/run-indexer.ts'
import { openSimilarityService, type SimilarityService } from '../src/similar/query/similarity-service.ts'
import { ingest } from '../src/store/ingest.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/port/store.ts'
import { RECORD_TYPES } from '../src/values/dns-record.ts'
import type { DomainName } from '../src/values/domain-name.ts'
import { parsePage } from '../test/store/conformance/paging.ts'
import { dns, name, redirecting, seen, soa, web } from '../test/store/conformance/world.ts'
import { figure, report } from './measure/report.ts'
import { below, type Dice, diceOf } from './world/random.ts'

const ALL = 1_000_000
const WORDS = ['bread', 'cake', 'harbour', 'mill', 'bank', 'forest', 'river', 'lamp', 'stone', 'glass', 'paper', 'wind']
const { values } = parseArgs({
  options: {
    stores: { type: 'string', default: '200' },
    flips: { type: 'string', default: '4' },
    names: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
  },
})
const NAMES = Array.from({ length: Number(values.names) }, (_, n) => name(`n${n}.example`))
const TARGETS = Array.from({ length: 7 }, (_, n) => name(`t${n}.example`))

const folder = mkdtempSync(join(tmpdir(), 'domaindex-damage-'))
const whole = join(folder, 'whole.db')
const OPTIONS = { ledger: 'own', secret: 'a secret for the bench that is long enough' } as const
type Kind = 'refused' | 'found and right' | 'found' | 'clean and right' | 'clean and wrong'
const counts: Record<Kind, number> = {
  refused: 0,
  'found and right': 0,
  found: 0,
  'clean and right': 0,
  'clean and wrong': 0,
}
try {
  await make()
  const right = await answersOf(whole)
  for (let place = 0; place < Number(values.stores); place++) await tryOne(place, right as Map<string, unknown>)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
const lines = Object.entries(counts).map(([kind, count]) => figure(kind, count, 'stores'))
report('corruption', lines, [`${values.flips} bits each, ${values.names} names, seed ${values.seed}`], values)
if (counts['clean and wrong'] > 0) process.exitCode = 1

async function make(): Promise<void> {
  const store = await openStore(`sqlite:${whole}`, { ...OPTIONS, access: 'write' })
  const dice = diceOf(Number(values.seed), 0, 0)
  for (const round of [1, 2, 3])
    await ingest(
      store,
      NAMES.map((each, n) => observationOf(each, n, round, dice)),
    )
  const tell = { progress: () => {} }
  await indexOnce({ store, holder: 'bench', clock: SYSTEM_CLOCK, reporter: tell }, new AbortController().signal)
  await store.close()
}

function observationOf(each: DomainName, n: number, round: number, dice: Dice) {
  const text = Array.from({ length: 20 }, () => WORDS[below(dice, WORDS.length)]).join(' ')
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

/** Null where it cannot be opened at all. */
async function answersOf(path: string): Promise<Map<string, unknown> | null> {
  const store = await openStore(`sqlite:${path}`, { ...OPTIONS, access: 'read' }).catch(() => null)
  if (store === null) return null
  const answers = new Map<string, unknown>()
  try {
    const similar = openSimilarityService(store)
    for (const each of [...NAMES, ...TARGETS]) await answer(store, similar, each, answers)
  } finally {
    await store.close().catch(() => {})
  }
  return answers
}

/** An answer that fails is left out. */
async function answer(
  { facts }: Store,
  similar: SimilarityService,
  each: DomainName,
  answers: Map<string, unknown>,
): Promise<void> {
  const asked: [string, () => Promise<unknown>][] = [
    ['lookup', async () => ({ ...(await facts.lookup(each)), dns: null, web: null })],
    ['clocks', () => facts.clocks(each)],
    ['redirect', async () => parsePage(await facts.redirects(each, null, ALL)).rows],
    ['reverseip', async () => parsePage(await facts.neighbours(await facts.addresses(each), each, null, ALL)).rows],
    ['dnshistory', () => facts.history(each, RECORD_TYPES, null, ALL)],
    ['similar', () => similar.similar(each, 100)],
  ]
  for (const [what, ask] of asked) {
    try {
      answers.set(`${what} ${each}`, await ask())
    } catch {
      // a call that fails is answered 500, which is not a wrong answer
    }
  }
}

async function tryOne(place: number, right: Map<string, unknown>): Promise<void> {
  const path = join(folder, `store-${place}.db`)
  for (const end of ['', '-ledger']) copyFileSync(whole.replace('.db', `${end}.db`), path.replace('.db', `${end}.db`))
  const flipped = flip(path, diceOf(Number(values.seed), place + 1, 1))
  const found = await faultsOf(path)
  const given = found === null ? null : await answersOf(path)
  const wrong = given === null ? [] : [...given].filter(([what, answer]) => !isDeepStrictEqual(answer, right.get(what)))
  const kind = kindOf(found, given !== null, wrong.length)
  counts[kind]++
  if (kind === 'clean and wrong')
    console.log(`store ${place}: ${wrong.map(([what]) => what).slice(0, 4)}; ${tablesOf(flipped)}`)
  for (const file of ['', '-wal', '-shm']) rmSync(path + file, { force: true })
}

function kindOf(found: number | null, isOpen: boolean, wrong: number): Kind {
  if (found === null || !isOpen) return 'refused'
  if (found > 0) return wrong > 0 ? 'found' : 'found and right'
  return wrong > 0 ? 'clean and wrong' : 'clean and right'
}

/** How many faults; null where the store is refused. */
async function faultsOf(path: string): Promise<number | null> {
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

/** Returns the offsets. */
function flip(path: string, dice: Dice): number[] {
  const file = openSync(path, 'r+')
  const { size } = statSync(path)
  const offsets = Array.from({ length: Number(values.flips) }, () => below(dice, size))
  const byte = Buffer.alloc(1)
  for (const offset of offsets) {
    readSync(file, byte, 0, 1, offset)
    byte[0]! ^= 1 << below(dice, 8)
    writeSync(file, byte, 0, 1, offset)
  }
  closeSync(file)
  return offsets
}

/** The tables whose pages hold the offsets, by the store as it was. */
function tablesOf(offsets: readonly number[]): string {
  const database = new DatabaseSync(whole, { readOnly: true })
  const page = database.prepare('select name, pagetype from dbstat where pageno = ?')
  const words = offsets.map((offset) => {
    const { name: table = 'free', pagetype = '' } = page.get(Math.floor(offset / 4096) + 1) ?? {}
    return `${table} ${pagetype} ${offset % 4096}`
  })
  database.close()
  return words.join(', ')
}
