/**
 * PostgreSQL under the conformance suite: stores in schemas of two databases with different collations, and ways to
 * damage them.
 */

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { partitionOfName, partitionOfPackedAddress } from '../../../src/store/postgres/database/partition.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import { inForm } from '../../long.ts'
import type { Damage, Engine } from '../conformance/engine.ts'
import { lists } from '../conformance/reading/lists.ts'
import { conformance } from '../conformance/suite.ts'
import { forgetting } from '../conformance/writing/forgetting.ts'
import { WRONG_BLOCKS, WRONG_CERTIFICATES } from '../planted-blocks.ts'
import { openedInReusedPlaces, run } from './places.ts'
import { recordStatements } from './recorded-statements.ts'
import { noOtherCollation, noPostgres, postgresServer } from './server.ts'
import { tablesWithoutPart } from './shard-rule.ts'

const statements = recordStatements()

/** Damage by statements, each of which must change something. */
function statement(what: string, ...statements: string[]): Damage {
  return {
    what,
    async plant({ url }) {
      const counts = await run(url, statements.join(';'))
      const idle = statements.find((_, place) => counts[place] === 0)
      if (idle !== undefined) throw new Error(`${idle} changes nothing`)
    },
  }
}

/** Moves rows to the next partition. Citus refuses an update of the partition. */
function otherPart(what: string, table: string, condition = 'true'): Damage {
  return statement(
    what,
    `create temporary table moved as select * from ${table} where ${condition}`,
    'update moved set part = part + 1',
    `delete from ${table} where ${condition}`,
    `insert into ${table} select * from moved`,
  )
}

/** The partition of an address, and those of the names t.example and a.example. */
const partOf = (hex: string): number => partitionOfPackedAddress(Buffer.from(hex, 'hex'))
const T = partitionOfName('t.example' as DomainName)
const A = partitionOfName('a.example' as DomainName)

const damages: readonly Damage[] = [
  statement('a missing presence row', `delete from presence where name = 'c.example' and length(address) = 5`),
  statement(
    'a presence row too many',
    `insert into presence select ${partOf('04c0000209')}, '\\x04c0000209', name, since from presence limit 1`,
  ),
  statement(
    'a presence row of a name that is not known',
    `insert into presence values (${partOf('04c0000201')}, '\\x04c0000201', 'z.example', '2026-11-20T00:00:00')`,
  ),
  statement(
    'a presence row with another since',
    `update presence set since = '2020-01-01T00:00:00' where name = 'a.example'`,
  ),
  otherPart('a presence row in another part', 'presence', `name = 'a.example'`),
  statement('a wrong counter of an address', `update address_count set names = names + 1`),
  statement('a missing counter of an address', `delete from address_count`),
  statement(
    'a counter of an address that nobody is on',
    `insert into address_count values (${partOf('04c0000209')}, '\\x04c0000209', 1)`,
  ),
  otherPart('a counter of an address in another part', 'address_count'),
  statement('a missing redirect row', `delete from redirect where source = 'a.example'`),
  statement('a redirect row too many', `insert into redirect values (${A}, 'a.example', 'a.example')`),
  statement(
    'a redirect row of a name that is not known',
    `insert into redirect values (${T}, 't.example', 'z.example')`,
  ),
  otherPart('a redirect row in another part', 'redirect'),
  statement('a wrong counter of a target', `update redirect_count set sources = sources - 1`),
  statement('a missing counter of a target', `delete from redirect_count`),
  statement(
    'a counter of a target that nobody redirects to',
    `insert into redirect_count values (${A}, 'a.example', 1)`,
  ),
  otherPart('a counter of a target in another part', 'redirect_count'),
  statement(
    'a presence row of what is no address',
    `insert into presence select ${partOf('99')}, '\\x99', name, since from presence limit 1`,
  ),
  statement(
    'a missing presence row that the counter knows of',
    `delete from presence where name = 'c.example' and length(address) = 5`,
    `update address_count set names = names - 1 where length(address) = 5`,
  ),
  statement(
    'a presence row that was left behind, and is counted',
    `insert into presence values (${partOf('04c0000202')}, '\\x04c0000202', 'a.example', '2026-11-20T00:00:00')`,
    `insert into address_count values (${partOf('04c0000202')}, '\\x04c0000202', 1)`,
  ),
  statement(
    'a presence row of what is no address, and is counted',
    `insert into presence values (${partOf('99')}, '\\x99', 'a.example', '2026-11-20T00:00:00')`,
    `insert into address_count values (${partOf('99')}, '\\x99', 1)`,
  ),
  statement(
    'a missing redirect row that the counter knows of',
    `delete from redirect where source = 'a.example'`,
    `update redirect_count set sources = sources - 1`,
  ),
  statement(
    'a redirect row too many that is counted',
    `insert into redirect values (${T}, 't.example', 'c.example')`,
    `update redirect_count set sources = sources + 1`,
  ),
  statement('a counter of nothing', `insert into address_count values (${partOf('04c0000209')}, '\\x04c0000209', 0)`),
  statement(
    'addresses of the facts that cannot be read',
    `update facts set addresses = '{"\\\\x99"}' where name = 'c.example'`,
  ),
  statement('a state confirmed before it began', `update dns_state set last_confirmed = first_seen - 1`),
  statement('missing facts', `delete from facts where name = 'a.example'`),
  statement('facts that no name has', `update facts set id = id + 100000 where name = 'a.example'`),
  otherPart('facts in another part', 'facts', `name = 'a.example'`),
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
  statement('a superseded state of no name', `update dns_state set id = 1`),
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
  statement('clocks that cannot be read', `update crawl_state set other_clocks = '\\x00' where name = 'a.example'`),
  statement('a missing first time on an address', `delete from address_first_seen where address = '\\x04c0000202'`),
  statement(
    'a first time on an address that no state holds',
    `insert into address_first_seen select part, id, first_seen, '\\x04c0000209' from address_first_seen limit 1`,
  ),
  statement('a start page of no name', `update pending_page set id = 1`),
  statement('a missing start page', `delete from pending_page`),
  statement('a waiting start page of another text', `update pending_page set digest = 'another'`),
  statement('a start page under a document of no name', `update page_document set id = 1`),
  statement('a start page under a document of another name', `update page_document set name = 'z.example'`),
  statement('a start page under a document in another part', `update page_document set part = (part + 1) % 256`),
  statement('a missing start page that the index had', `delete from page_document`),
  statement(
    'a start page that the index has of a name without one',
    `insert into page_document select id, null, part, name from facts where name = 'a.example'`,
  ),
  statement('a missing document', `delete from document`),
  statement('a document of no start page', `insert into document values (1000000, 1, 1000000 & 255, '\\x00')`),
  statement('a document in another part', `update document set part = (part + 1) % 256`),
  statement('a tombstone with facts', `update crawl_state set id = 0 where name = 'a.example'`),
  statement('a name in the slot of another', `update crawl_state set slot = slot # 1 where name = 'a.example'`),
  otherPart('a name in another part', 'crawl_state', `name = 'a.example'`),
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
  ...WRONG_CERTIFICATES.map(([what, sql]) => statement(what, sql)),
  otherPart('a certificate in another part', 'certificate'),
  ...WRONG_BLOCKS.map(({ what, position, entries }) =>
    statement(
      what,
      `insert into inverse_run (number, state, fence, bytes) values (1000000, 'published', 0, 1)`,
      `insert into inverse_block (run, last_position, entries) values (1000000, '\\x${position}', '\\x${entries}')`,
    ),
  ),
]

suite('PostgreSQL', { skip: noPostgres }, () => {
  const open = openedInReusedPlaces((server) => server.schema())
  // PostgreSQL's type of 16 bits has a sign, so it counts up to 32,767
  conformance({ name: 'schemas', damages, crowd: inForm(33_000, 65_600), open })
})

suite('PostgreSQL with a database of another collation', { skip: noOtherCollation }, () => {
  const open = openedInReusedPlaces((server) => server.database('en-US'))
  const english: Engine = { name: 'en-US', damages, open }
  for (const part of [lists, forgetting]) part(english)
  test('the database compares words differently', async () => {
    const { url, drop } = await (await postgresServer()).database('en-US')
    assert.deepEqual(await run(url, `select 1 where 'a' < 'B'`), [1])
    await drop()
  })
})

/** Reads of all shards, on purpose. With Citus, look-ups use other statements. */
const MULTI_SHARD_READS = ['facts.lookups', 'facts.profile', 'probe.distributed']

test('each statement of the suite names the partitions of the tables that Citus distributes', {
  skip: noPostgres,
}, () => {
  assert.ok(statements.size > 80, `only ${statements.size} statements are recorded`)
  const others = [...statements].filter(([, text]) => tablesWithoutPart(text).length > 0)
  const writes = others.filter(([, text]) => /\b(insert|update|delete)\b/i.test(text))
  assert.deepEqual(writes, [], 'writes that Citus would send to all shards')
  assert.deepEqual(
    others.filter(([name]) => !MULTI_SHARD_READS.includes(name)),
    [],
    'reads that Citus would send to all shards',
  )
})
