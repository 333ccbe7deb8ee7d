/** Runs `domaindex account` in a test and inspects the store afterwards. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Command } from 'commander'
import { hashToken, parseToken } from '../../../src/accounts/token.ts'
import { defineAccount } from '../../../src/cli/account/changes.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/port/store.ts'

export const TOKEN = /dxt_[0-9A-Za-z]{33}/

/** Creates a folder without a store and points the settings at it for the length of a test. */
export function newStore(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-account-'))
  t.after(() => rmSync(folder, { recursive: true }))
  process.env.DOMAINDEX_STORE = `sqlite:${join(folder, 'store.db')}`
  return process.env.DOMAINDEX_STORE
}

/** Runs `domaindex account …` and returns its output. Rejects if the command fails. */
export async function run(t: TestContext, ...argv: string[]): Promise<string> {
  const log = t.mock.method(console, 'log', () => {})
  const command = new Command('account').exitOverride().configureOutput({ writeErr: () => {} })
  defineAccount(command)
  try {
    await command.parseAsync(argv, { from: 'user' })
    return log.mock.calls.map((call) => call.arguments.join(' ')).join('\n')
  } finally {
    log.mock.restore()
  }
}

/** Returns the parsed output of `--json`. */
export const json = async (t: TestContext, ...argv: string[]) => JSON.parse(await run(t, ...argv, '--json'))

/** Reads from the store directly. */
export async function look<Result>(url: string, see: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore(url, { access: 'read', ledger: 'own', secret: null })
  try {
    return await see(store)
  } finally {
    await store.close()
  }
}

/** Returns the account that a printed token belongs to. */
export const standing = (url: string, token: string) =>
  look(url, ({ ledger }) => ledger.findToken(hashToken(parseToken(token)!)))
