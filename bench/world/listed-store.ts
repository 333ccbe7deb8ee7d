/**
 * A store of very many made-up names, written straight into the tables of SQLite: the facts of a few thousand, given to
 * all.
 */

import { DatabaseSync } from 'node:sqlite'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import { type DomainName, slotOf } from '../../src/values/domain-name.ts'
import { below, type Dice, diceOf, oneOf } from './random.ts'
import { removeStore, type StoreFiles } from './store.ts'
import { firstRound, lineOf } from './world.ts'

/** Names whose facts the others get. */
const PATTERNS = 5000
const NAMES_AT_ONCE = 500_000
const SALT = 31

const SUFFIXES = ['com', 'com', 'com', 'com', 'com', 'net', 'org', 'de', 'co.uk', 'info', 'fr', 'xyz', 'shop', 'online']
const ONSETS = 'b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sh sl st t tr v w'.split(' ')
const VOWELS = 'a e i o u ai ea ee oo ou'.split(' ')
const CODAS = ['', '', '', ...'n r s t l ck ng st rd m p'.split(' ')]
const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const WORDS = Array.from({ length: 50_000 }, (_, rank) => wordOf(rank))

/** A word, the shorter the more common it is. */
function wordOf(rank: number): string {
  const dice = diceOf(11, rank, SALT)
  const syllables = rank < 300 ? 1 : rank < 8000 ? 2 : 3
  return Array.from({ length: syllables }, () => oneOf(dice, ONSETS) + oneOf(dice, VOWELS) + oneOf(dice, CODAS)).join(
    '',
  )
}

/**
 * A name as people choose them: words, often common ones, some with a hyphen or a number, and some of letters by
 * chance.
 */
export function listedName(index: number): DomainName {
  const dice = diceOf(5, index, SALT)
  return `${dice() < 0.12 ? lettersOf(dice) : wordsOf(dice)}.${oneOf(dice, SUFFIXES)}` as DomainName
}

function lettersOf(dice: Dice): string {
  return Array.from({ length: 6 + below(dice, 7) }, () => CHARACTERS[below(dice, CHARACTERS.length)]).join('')
}

function wordsOf(dice: Dice): string {
  const count = 2 + below(dice, 2)
  const words = Array.from({ length: count }, () => WORDS[Math.floor(WORDS.length ** (0.3 + 0.7 * dice())) - 1]!)
  return words.join(dice() < 0.15 ? '-' : '') + (dice() < 0.15 ? String(below(dice, 2000)) : '')
}

/** Makes the store; how many names it has: of `names` drawn, those that differ. */
export async function makeListedStore(store: StoreFiles, names: number): Promise<number> {
  removeStore(store)
  await writePatterns(store)
  const database = new DatabaseSync(store.facts)
  database.exec('pragma synchronous = off; pragma cache_size = -200000; pragma temp_store = file')
  database.exec('create table drawn (slot integer, name text)')
  const draw = database.prepare('insert into drawn values (?, ?)')
  for (let index = 0; index < names; index++) {
    if (index % NAMES_AT_ONCE === 0) database.exec(index === 0 ? 'begin' : 'commit; begin')
    const name = listedName(index)
    draw.run(slotOf(name), name)
  }
  database.exec('commit')
  const count = spread(database)
  database.close()
  return count
}

/** A few names as they come in from a crawl. */
async function writePatterns({ url }: StoreFiles): Promise<void> {
  const world = { seed: 1, names: PATTERNS, text: false }
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  const lines = Array.from({ length: PATTERNS }, (_, index) => lineOf(world, index, firstRound()))
  await ingest(
    store,
    lines.map(parseObservation).filter((line) => typeof line !== 'string'),
  )
  await store.close()
}

/** Gives every drawn name a narrow row, an id and facts, in the order of the slots as a crawl does. */
function spread(database: DatabaseSync): number {
  const slice = 4096
  const known = 'select max(id) as last from facts'
  const last = (): number => database.prepare(known).get()!.last as number
  database.exec('create table ordered as select slot, name from drawn group by slot, name; drop table drawn')
  database.exec(`begin; insert or ignore into crawl_state (slot, name, id, version, clock, other_clocks, dns_fingerprint, web_fingerprint)
    select slot, name, rowid + ${PATTERNS}, 1, (select max(clock) from crawl_state), null, 0, 0 from ordered; commit`)
  const columns =
    'status, ip, flags, ssl, redirects_to, social_networks, social_accounts, text_digest, addresses, states'
  const give = database.prepare(
    `insert into facts (id, name, ${columns}) select v.id, v.name, ${columns} from crawl_state v join facts f on f.id = 1 + v.id % ${PATTERNS}
     where v.slot between ? and ? and v.id > ${PATTERNS}`,
  )
  for (let slot = 0; slot < 65_536; slot += slice) give.run(slot, slot + slice - 1)
  database.exec('delete from pending_name; insert into pending_name (name) select name from crawl_state')
  database.exec('drop table ordered; pragma wal_checkpoint(truncate)')
  return last()
}
