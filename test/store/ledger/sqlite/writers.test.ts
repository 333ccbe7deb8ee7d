/** Writers of the SQLite ledger: what shares a commit, what a failure affects, what survives a crash. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { StoreFault } from '../../../../src/store/port/fault.ts'
import { openSqliteLedger, type SqliteLedgerOptions } from '../../../../src/store/sqlite/ledger/ledger.ts'
import { TESTER } from '../../../tester.ts'
import { ANN, made, NOW, newToken, TODAY } from '../engine.ts'
import { forkDriven } from './worker-ledger.ts'

const ask = { account: 1, day: TODAY, limit: 1_000_000, requested: 1, holder: 'one' }

function newPath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-ledger-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'ledger.db')
}

const open = (path: string, ledger: SqliteLedgerOptions['ledger']) =>
  openSqliteLedger(path, { ledger, secret: null, now: () => NOW })

test('all waiting calls share one commit', async (t) => {
  const path = newPath(t)
  const ledger = open(path, 'thread')
  await ledger.takeQuota(ask)
  const before = statSync(`${path}-wal`).size
  await Promise.all(Array.from({ length: 2_000 }, () => ledger.takeQuota(ask)))
  const pages = (statSync(`${path}-wal`).size - before) / 4_096
  assert.ok(pages < 20, `${pages} pages were written`)
  assert.equal(await ledger.usedUnits(1, TODAY), 2_001)
  await ledger.close()
})

test('a failed call does not roll back its neighbours', async (t) => {
  const ledger = open(newPath(t), 'own')
  const { id } = await made(ledger)
  const outcomes = await Promise.allSettled([
    ledger.takeQuota(ask),
    ledger.as(TESTER).createToken(id, newToken('laptop', 1), NOW),
    ledger.as(TESTER).createToken(id, newToken('copy', 1), NOW),
    ledger.takeQuota(ask),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.equal((await ledger.tokens(id)).length, 1)
  assert.equal(await ledger.usedUnits(1, TODAY), 2)
  await ledger.close()
})

test('if a write fails, every waiting caller gets the error, and the ledger stays usable', async (t) => {
  const path = newPath(t)
  const ledger = open(path, 'own')
  const other = new DatabaseSync(path)
  other.exec(`create trigger full before insert on budget begin select raise(rollback, 'no room'); end`)
  const outcomes = await Promise.allSettled([ledger.as(TESTER).createAccount(ANN, NOW), ledger.takeQuota(ask)])
  for (const outcome of outcomes) assert.match((outcome as PromiseRejectedResult).reason.message, /no room/)
  assert.equal(await ledger.account(ANN.email), null)
  other.exec('drop trigger full')
  other.close()
  assert.equal((await ledger.takeQuota(ask)).granted, 1)
  await ledger.close()
})

test('acknowledged writes survive a kill -9', async (t) => {
  const path = newPath(t)
  const program = join(path, '../takes.mjs')
  writeFileSync(
    program,
    `import { openSqliteLedger } from ${JSON.stringify(import.meta.resolve('../../../../src/store/sqlite/ledger/ledger.ts'))}
     const ledger = openSqliteLedger(${JSON.stringify(path)}, { ledger: 'thread', secret: null, now: () => ${NOW} })
     for (;;) console.log((await ledger.takeQuota(${JSON.stringify(ask)})).used)`,
  )
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  let acknowledged = 0
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged = Math.max(acknowledged, Number(line)) // the last line may be truncated
    if (acknowledged >= 100) child.kill('SIGKILL')
  }
  const ledger = open(path, 'own')
  assert.ok(acknowledged >= 100)
  assert.ok((await ledger.usedUnits(1, TODAY)) >= acknowledged)
  await ledger.close()
})

test('a worker whose primary is gone gets an error', async (t) => {
  const path = newPath(t)
  const ledger = open(path, 'thread')
  const { worker, ask } = forkDriven()
  await ask('open', path, null)
  ask('leave')
  const [text] = await once(worker.process.stdout!, 'data')
  const [, later] = JSON.parse(String(text))
  assert.match(later, /the primary process has ended/)
  await ledger.close()
})

test('a closed ledger says that it is closed', async (t) => {
  const path = newPath(t)
  const ledger = open(path, 'thread')
  const under = ledger.takeQuota(ask)
  await ledger.close()
  assert.equal((await under).granted, 1)
  await assert.rejects(ledger.takeQuota(ask), /is closed/)
})

test('a ledger of another release is rejected with what to do', async (t) => {
  const path = newPath(t)
  await open(path, 'own').close()
  const database = new DatabaseSync(path)
  database.exec(`insert into migration values (9999, '9999-later.sql', '', '')`)
  database.close()
  assert.throws(
    () => open(path, 'own'),
    (error) => error instanceof StoreFault && /newer domaindex/.test(error.message),
  )
})

test('a file that is not a ledger is rejected with its name', (t) => {
  const path = newPath(t)
  writeFileSync(path, 'This is a text and no database, and long enough to be seen as that.'.repeat(99))
  assert.throws(
    () => open(path, 'own'),
    (error) => error instanceof StoreFault && error.message.includes(path),
  )
})
