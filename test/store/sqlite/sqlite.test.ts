/** SQLite under the conformance suite: a store in its own folder, and ways to damage it. */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after } from 'node:test'
import { openStore } from '../../../src/store/open.ts'
import type { CheckFault } from '../../../src/store/port/store.ts'
import { checksumOf } from '../../../src/store/shared/check/checksum.ts'
import { sqliteFilesOf } from '../../../src/store/sqlite/locations.ts'
import { sqliteMaintenance } from '../../../src/store/sqlite/maintenance/maintenance.ts'
import { openFacts } from '../../../src/store/sqlite/open.ts'
import { checkAll } from '../check-all.ts'
import type { Clock, Damage, Opened } from '../conformance/engine.ts'
import { openedAt } from '../conformance/opened-store.ts'
import { conformance } from '../conformance/suite.ts'
import { WRONG_BLOCKS, WRONG_CERTIFICATES } from '../planted-blocks.ts'

let created: Promise<string> | undefined
after(async () => {
  if (created !== undefined) await rm(await created, { recursive: true })
})

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'domaindex-sqlite-'))
const urlIn = (folder: string): string => `sqlite:${join(folder, 'store.db')}`

/** An empty store, which the tests copy. It has no secret yet, because each store generates its own. */
async function create(): Promise<string> {
  const folder = await newFolder()
  await (await openStore(urlIn(folder), { access: 'write', ledger: 'own', secret: null })).close()
  return folder
}

async function open(clock: Clock): Promise<Opened> {
  created ??= create()
  const folder = await newFolder()
  await cp(await created, folder, { recursive: true })
  const url = urlIn(folder)
  return openedAt(url, { now: () => clock.now }, () => rm(folder, { recursive: true }), { check: () => check(url) })
}

/** Opens the facts alone. An instance of the store would also prepare the statements of its ledger. */
async function check(url: string): Promise<readonly CheckFault[]> {
  const files = sqliteFilesOf(url.slice('sqlite:'.length))
  const database = openFacts(files.facts, { access: 'read' })
  try {
    return (await checkAll({ maintenance: sqliteMaintenance(database, files) })).faults
  } finally {
    database.close()
  }
}

/** Damage by statements, each of which must change something. */
function statement(what: string, ...statements: string[]): Damage {
  return {
    what,
    async plant({ url }) {
      const database = new DatabaseSync(url.slice('sqlite:'.length))
      const idle = statements.find((sql) => database.prepare(sql).run().changes === 0)
      database.close()
      if (idle !== undefined) throw new Error(`${idle} changes nothing`)
    },
  }
}

conformance({
  name: 'SQLite',
  open,
  damages: [
    statement('a missing presence row', `delete from presence where name = 'c.example' and length(address) = 5`),
    statement(
      'a presence row too many',
      `insert into presence select x'04c0000209', name, since from presence limit 1`,
    ),
    statement(
      'a presence row of a name that is not known',
      `insert into presence values (x'04c0000201', 'z.example', '2026-11-20T00:00:00')`,
    ),
    statement(
      'a presence row with another since',
      `update presence set since = '2020-01-01T00:00:00' where name = 'a.example'`,
    ),
    statement('a wrong counter of an address', `update address_count set names = names + 1`),
    statement('a missing counter of an address', `delete from address_count`),
    statement('a counter of an address that nobody is on', `insert into address_count values (x'04c0000209', 1)`),
    statement('a missing redirect row', `delete from redirect where source = 'a.example'`),
    statement('a redirect row too many', `insert into redirect values ('u.example', 'a.example')`),
    statement('a redirect row of a name that is not known', `insert into redirect values ('t.example', 'z.example')`),
    statement('a wrong counter of a target', `update redirect_count set sources = sources - 1`),
    statement('a missing counter of a target', `delete from redirect_count`),
    statement('a counter of a target that nobody redirects to', `insert into redirect_count values ('u.example', 1)`),
    statement(
      'a presence row of what is no address',
      `insert into presence select x'99', name, since from presence limit 1`,
    ),
    statement(
      'a missing presence row that the counter knows of',
      `delete from presence where name = 'c.example' and length(address) = 5`,
      `update address_count set names = names - 1 where length(address) = 5`,
    ),
    statement(
      'a presence row that was left behind, and is counted',
      `insert into presence values (x'04c0000202', 'a.example', '2026-11-20T00:00:00')`,
      `insert into address_count values (x'04c0000202', 1)`,
    ),
    statement(
      'a presence row of what is no address, and is counted',
      `insert into presence values (x'99', 'a.example', '2026-11-20T00:00:00')`,
      `insert into address_count values (x'99', 1)`,
    ),
    statement(
      'a missing redirect row that the counter knows of',
      `delete from redirect where source = 'a.example'`,
      `update redirect_count set sources = sources - 1`,
    ),
    statement(
      'a redirect row too many that is counted',
      `insert into redirect values ('t.example', 'c.example')`,
      `update redirect_count set sources = sources + 1`,
    ),
    statement('a counter of nothing', `insert into address_count values (x'04c0000209', 0)`),
    statement(
      'addresses of the facts that cannot be read',
      `update facts set addresses = '[' where name = 'c.example'`,
    ),
    statement('a state confirmed before it began', `update dns_state set last_confirmed = first_seen - 1`),
    statement('missing facts', `delete from facts where name = 'a.example'`),
    statement('facts that no name has', `update facts set id = id + 1000 where name = 'a.example'`),
    statement('facts of another name', `update facts set name = 'z.example' where name = 'a.example'`),
    statement(
      'addresses of the facts that do not follow from their states',
      `update facts set addresses = null where name = 'c.example'`,
    ),
    statement('an ip that does not follow from the states', `update facts set ip = 'noip' where name = 'c.example'`),
    statement(
      'a missing superseded state',
      `delete from dns_state where first_seen = (select min(first_seen) from dns_state)`,
    ),
    statement('a superseded state of no name', `update dns_state set id = 1000`),
    statement(
      'a serial whose base is not there',
      `update dns_state set base_first_seen = 1 where base_first_seen is not null`,
    ),
    statement('a serial that is not there', `update dns_state set serial = null where serial is not null`),
    statement('states that cannot be read', `update facts set states = '{' where name = 'a.example'`),
    statement(
      'a clock before the newest state',
      `update crawl_state set clock = 5, other_clocks = null where name = 'a.example'`,
    ),
    statement('clocks that cannot be read', `update crawl_state set other_clocks = x'00' where name = 'a.example'`),
    statement('a missing first time on an address', `delete from address_first_seen where address = x'04c0000202'`),
    statement(
      'a first time on an address that no state holds',
      `insert into address_first_seen select id, x'04c0000209', first_seen from address_first_seen limit 1`,
    ),
    statement('a start page of no name', `update pending_page set id = 1000`),
    statement('a missing start page', `delete from pending_page`),
    statement('a waiting start page of another text', `update pending_page set digest = 'another'`),
    statement('a start page under a wording of no name', `update page_document set id = 1000`),
    statement('a start page under a wording of another name', `update page_document set name = 'z.example'`),
    statement('a missing start page that the index had', `delete from page_document`),
    statement(
      'a start page that the index has of a name without one',
      `insert into page_document select id, null, name from facts where name = 'a.example'`,
    ),
    statement('a missing wording', `delete from document`),
    statement('a wording of no start page', `insert into document (digest, vector) values (1, x'00')`),
    statement('a tombstone with facts', `update crawl_state set id = 0 where name = 'a.example'`),
    statement('a name that is not listed', `delete from pending_name where name = 'a.example'`),
    statement('a listed name that is not known', `insert into sorted_name values ('z.example')`),
    statement('a listed name that was forgotten', `insert into sorted_name values ('e.example')`),
    statement(
      'a name on its way to the list that is not known',
      `insert into pending_name (name) values ('z.example')`,
    ),
    statement('a forgotten name on its way to the list', `insert into pending_name (name) values ('e.example')`),
    statement(
      'a name in the slot of another',
      `update crawl_state set slot = (slot + 1) % 65536 where name = 'a.example'`,
    ),
    statement(
      'a missing block of the inverse index',
      `delete from inverse_block where run = (select min(run) from inverse_block)`,
    ),
    statement(
      'a missing block of a run in which each key is looked up',
      'update inverse_run set bytes = 1099511627776',
      `delete from inverse_block where run = (select min(run) from inverse_block)`,
    ),
    statement('a run of the inverse index without a known state', `update inverse_run set state = 'done'`),
    statement('blocks of no run', `delete from inverse_run`),
    statement(
      'a run of the inverse index that is not published',
      `update inverse_run set state = 'building' where number = (select min(run) from inverse_block)`,
    ),
    statement('a changed block of the inverse index', `update inverse_block set checksum = checksum + 1`),
    ...WRONG_CERTIFICATES.map(([what, sql]) => statement(what, sql)),
    statement(
      'a certificate with other details',
      `update certificate set details = '["CN=2",1,9,["*.b.example","b.example"],"ec-p256"]'`,
    ),
    ...WRONG_BLOCKS.map(({ what, position, entries }) => {
      const [last, bytes] = [position, entries].map((hex) => Buffer.from(hex, 'hex'))
      return statement(
        what,
        `insert into inverse_run (number, state, fence, bytes) values (1000, 'published', 0, 1)`,
        `insert into inverse_block (run, last_position, entries, checksum)
         values (1000, x'${position}', x'${entries}', ${checksumOf('inverse_block', [1000, last!, bytes!])})`,
      )
    }),
  ],
})
