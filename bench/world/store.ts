/** The store that a bench works on: its files, copies of it, and accounts that may ask it. */

import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeToken, newTokenRecord, TOKEN_BYTES } from '../../src/accounts/token.ts'
import { openStore } from '../../src/store/open.ts'
import { TESTER } from '../../test/tester.ts'
import { diceOf } from './random.ts'

const ENDS = ['', '-wal', '-shm']

/** A store's files by its name in a folder. */
export type StoreFiles = { facts: string; ledger: string; url: string; env: { DOMAINDEX_STORE: string } }

export function storeIn(folder: string, name = 'store'): StoreFiles {
  const facts = join(folder, `${name}.db`)
  return {
    facts,
    ledger: join(folder, `${name}-ledger.db`),
    url: `sqlite:${facts}`,
    env: { DOMAINDEX_STORE: `sqlite:${facts}` },
  }
}

export function removeStore({ facts, ledger }: StoreFiles): void {
  for (const path of [facts, ledger]) for (const end of [...ENDS, '.log']) rmSync(path + end, { force: true })
}

/** Copies a store that no process has open. */
export function copyStore(from: StoreFiles, to: StoreFiles): void {
  removeStore(to)
  for (const [source, target] of [[from.facts, to.facts] as const, [from.ledger, to.ledger] as const]) {
    for (const end of ENDS) if (existsSync(source + end)) copyFileSync(source + end, target + end)
  }
}

/** Makes premium accounts with one token each; the tokens. The same seed gives the same. */
export async function makeTokens({ url }: StoreFiles, count: number, seed: number): Promise<string[]> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  const now = await store.now()
  const tokens: string[] = []
  for (let at = 0; at < count; at++) {
    const email = `bench-${at}@example.com`
    const made = await store.ledger
      .as(TESTER)
      .createAccount({ email, role: 'user', plan: 'premium', periods: [], addons: [] }, now)
    const account = made ?? (await store.ledger.account(email))!
    const dice = diceOf(seed, at, 99)
    const token = makeToken(Uint8Array.from({ length: TOKEN_BYTES }, () => Math.floor(dice() * 256)))
    if (made) await store.ledger.as(TESTER).createToken(account.id, newTokenRecord(token, 'bench', null), now)
    tokens.push(token)
  }
  await store.close()
  return tokens
}

/** Holds a reader open, so that no part of the log is written back; what it returns lets go. */
export function holdLog({ facts }: StoreFiles): () => void {
  const database = new DatabaseSync(facts, { readOnly: true })
  database.exec('begin')
  database.prepare('select count(*) from metadata').get()
  return () => database.close()
}
