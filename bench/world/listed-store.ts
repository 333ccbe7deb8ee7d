/**
 * A store of very many synthetic names, written directly to the SQLite tables. All names share the facts of a few
 * thousand.
 */

import { DatabaseSync } from 'node:sqlite'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import { type DomainName, slotOf } from '../../src/values/domain-name.ts'
import { type RandomSource, randomChoice, randomInt, seededRandom } from './random.ts'
import { removeStore, type StoreFiles } from './store.ts'
import { firstProbeRound, observationLineAt } from './world.ts'

/** The number of names whose facts the others copy. */
const PATTERN_COUNT = 5000
const TRANSACTION_NAMES = 500_000
const SALT = 31

const SUFFIXES = ['com', 'com', 'com', 'com', 'com', 'net', 'org', 'de', 'co.uk', 'info', 'fr', 'xyz', 'shop', 'online']
const ONSETS = 'b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sh sl st t tr v w'.split(' ')
const VOWELS = 'a e i o u ai ea ee oo ou'.split(' ')
const CODAS = ['', '', '', ...'n r s t l ck ng st rd m p'.split(' ')]
const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const WORDS = Array.from({ length: 50_000 }, (_, rank) => wordOf(rank))

/** Returns a word. Frequent words (low ranks) are short. */
function wordOf(rank: number): string {
  const random = seededRandom(11, rank, SALT)
  const syllables = rank < 300 ? 1 : rank < 8000 ? 2 : 3
  return Array.from(
    { length: syllables },
    () => randomChoice(random, ONSETS) + randomChoice(random, VOWELS) + randomChoice(random, CODAS),
  ).join('')
}

/** A realistic name: words, often frequent ones, some with a hyphen or a number. Some names are random letters. */
export function listedName(index: number): DomainName {
  const random = seededRandom(5, index, SALT)
  return `${random() < 0.12 ? lettersOf(random) : wordsOf(random)}.${randomChoice(random, SUFFIXES)}` as DomainName
}

function lettersOf(random: RandomSource): string {
  return Array.from({ length: 6 + randomInt(random, 7) }, () => CHARACTERS[randomInt(random, CHARACTERS.length)]).join(
    '',
  )
}

function wordsOf(random: RandomSource): string {
  const count = 2 + randomInt(random, 2)
  const words = Array.from({ length: count }, () => WORDS[Math.floor(WORDS.length ** (0.3 + 0.7 * random())) - 1]!)
  return words.join(random() < 0.15 ? '-' : '') + (random() < 0.15 ? String(randomInt(random, 2000)) : '')
}

/** Creates the store. Returns the number of distinct names among `names` random ones. */
export async function createListedStore(store: StoreFiles, names: number): Promise<number> {
  removeStore(store)
  await writePatterns(store)
  const database = new DatabaseSync(store.facts)
  database.exec('pragma synchronous = off; pragma cache_size = -200000; pragma temp_store = file')
  database.exec('create table drawn (slot integer, name text)')
  const draw = database.prepare('insert into drawn values (?, ?)')
  for (let index = 0; index < names; index++) {
    if (index % TRANSACTION_NAMES === 0) database.exec(index === 0 ? 'begin' : 'commit; begin')
    const name = listedName(index)
    draw.run(slotOf(name), name)
  }
  database.exec('commit')
  const count = fillTables(database)
  database.close()
  return count
}

/** Imports a few names as a crawl does. */
async function writePatterns({ url }: StoreFiles): Promise<void> {
  const world = { seed: 1, names: PATTERN_COUNT, text: false }
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  const lines = Array.from({ length: PATTERN_COUNT }, (_, index) => observationLineAt(world, index, firstProbeRound()))
  await ingest(
    store,
    lines.map(parseObservation).filter((line) => typeof line !== 'string'),
  )
  await store.close()
}

/** Gives every name a crawl state, an id and facts, in slot order as a crawl does. Returns the number of names. */
function fillTables(database: DatabaseSync): number {
  const slice = 4096
  const lastIdQuery = 'select max(id) as last from facts'
  const last = (): number => database.prepare(lastIdQuery).get()!.last as number
  database.exec('create table ordered as select slot, name from drawn group by slot, name; drop table drawn')
  database.exec(`begin; insert or ignore into crawl_state (slot, name, id, version, clock, other_clocks, dns_fingerprint, web_fingerprint)
    select slot, name, rowid + ${PATTERN_COUNT}, 1, (select max(clock) from crawl_state), null, 0, 0 from ordered; commit`)
  const columns =
    'status, ip, flags, ssl, redirects_to, social_networks, social_accounts, text_digest, addresses, states'
  const insertFacts = database.prepare(
    `insert into facts (id, name, ${columns}) select v.id, v.name, ${columns} from crawl_state v join facts f on f.id = 1 + v.id % ${PATTERN_COUNT}
     where v.slot between ? and ? and v.id > ${PATTERN_COUNT}`,
  )
  for (let slot = 0; slot < 65_536; slot += slice) insertFacts.run(slot, slot + slice - 1)
  database.exec('delete from pending_name; insert into pending_name (name) select name from crawl_state')
  database.exec('drop table ordered; pragma wal_checkpoint(truncate)')
  return last()
}
