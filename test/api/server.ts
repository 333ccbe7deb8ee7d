/** A real `domaindex serve`: its primary and workers on a free port, with a new store. */

import assert from 'node:assert/strict'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import type { Account, NewAccount } from '../../src/accounts/account.ts'
import { makeToken, newTokenRecord, TOKEN_BYTES, type TokenString } from '../../src/accounts/token.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import { ingest } from '../../src/store/ingest.ts'
import type { Store } from '../../src/store/port/store.ts'
import { dayOf } from '../../src/values/time.ts'
import type { Outcome } from '../cli/run.ts'
import { folderOf, outcomeOf, type Start } from '../cli/run.ts'
import { TESTER } from '../tester.ts'

const now = () => Math.floor(Date.now() / 1000)

export type Served = {
  /** `http://127.0.0.1:PORT`. */
  address: string
  process: ChildProcessWithoutNullStreams
  /** Its exit and all its output. */
  outcome: Promise<Outcome>
  /** The objects of its log so far. */
  log: () => Record<string, unknown>[]
}

/** A folder with a store and, on request, a server over it. Both are removed after the test. */
export function serverOf(test: TestContext) {
  const folder = folderOf(test)
  return {
    ...folder,
    serve: (settings: Record<string, string> = {}, options: readonly string[] = [], how: Start = {}) =>
      serve(test, folder, settings, options, how),
  }
}

async function serve(
  test: TestContext,
  folder: ReturnType<typeof folderOf>,
  settings: Record<string, string>,
  options: readonly string[],
  how: Start,
) {
  const env = {
    DOMAINDEX_PORT: '0',
    DOMAINDEX_ADMIN: '127.0.0.1:0',
    DOMAINDEX_WORKERS: '2',
    DOMAINDEX_JOB_TIMES: 'off',
    DOMAINDEX_INDEX: 'off',
    DOMAINDEX_DELIVERIES: 'off',
    ...settings,
  }
  const child = folder.start(['serve', ...options], env, how)
  const outcome = outcomeOf(child)
  test.after(async () => {
    child.kill('SIGKILL')
    await outcome
  })
  const objects: ReturnType<typeof JSON.parse>[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.startsWith('{')) objects.push(JSON.parse(line))
  })
  const address = await Promise.race([readAddress(child), outcome.then(({ stderr }) => assert.fail(stderr))])
  return { address, process: child, outcome, log: () => [...objects] } satisfies Served
}

/** Reads the address from the line that reports that the server is ready. */
function readAddress({ stdout }: ChildProcessWithoutNullStreams): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    stdout.on('data', (chunk) => {
      text += chunk
      const [, address] = /^domaindex listens on (\S+)\n/m.exec(text) ?? []
      if (address !== undefined) resolve(address)
    })
  })
}

/** Creates an account with a token. */
export async function makeAccount(
  { ledger }: Store,
  plan: Account['plan'],
  email = `${plan}@example.com`,
): Promise<{ account: Account; token: TokenString }> {
  const token = makeToken(randomBytes(TOKEN_BYTES))
  const wanted: NewAccount = { email, role: 'user', plan, periods: [], addons: [] }
  const account = await ledger
    .as(TESTER)
    .createAccount(wanted, Math.floor(Date.now() / 1000), newTokenRecord(token, 'test', null))
  return { account: account!, token }
}

/** Imports one observation as it would be in a line of a file. */
export async function observe(store: Store, line: object): Promise<void> {
  const observation = parseObservation(JSON.stringify(line))
  if (typeof observation === 'string') throw new Error(observation)
  await ingest(store, [observation])
}

/** Spends units of today's budget, almost all at once. */
export async function spend({ ledger }: Store, account: Account, limit: number, units: number): Promise<void> {
  const budget = { account: account.id, day: dayOf(now()), holder: 'test' }
  const ask = (want: number) => ledger.takeQuota({ ...budget, limit, requested: want })
  const grants = await Promise.all(Array.from({ length: Math.floor(units / 64) }, () => ask(64)))
  const spent = grants.reduce((sum, { granted }) => sum + granted, 0)
  if (spent > 0) await ledger.settleQuota([{ ...budget, spent, returned: 0 }])
  const { granted } = units > spent ? await ask(units - spent) : { granted: 0 }
  if (granted > 1) await ledger.settleQuota([{ ...budget, spent: granted, returned: 0 }])
  assert.equal(await ledger.usedUnits(account.id, budget.day), units)
}
