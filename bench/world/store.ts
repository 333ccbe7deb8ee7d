/** The store of a bench: its files, copies of it, and accounts with tokens. */

import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeToken, newTokenRecord, TOKEN_BYTES } from '../../src/accounts/token.ts'
import { openStore } from '../../src/store/open.ts'
import { TESTER } from '../../test/tester.ts'
import { seededRandom } from './random.ts'

const FILE_SUFFIXES = ['', '-wal', '-shm']

/** The files of a store by its name in a folder. */
export type StoreFiles = { facts: string; ledger: string; url: string; env: { DOMAINDEX_STORE: string } }

export function storeFilesIn(folder: string, name = 'store'): StoreFiles {
  const facts = join(folder, `${name}.db`)
  return {
    facts,
    ledger: join(folder, `${name}-ledger.db`),
    url: `sqlite:${facts}`,
    env: { DOMAINDEX_STORE: `sqlite:${facts}` },
  }
}

export function removeStore({ facts, ledger }: StoreFiles): void {
  for (const path of [facts, ledger])
    for (const suffix of [...FILE_SUFFIXES, '.log']) rmSync(path + suffix, { force: true })
}

/** Copies a store that no process has open. */
export function copyStore(from: StoreFiles, to: StoreFiles): void {
  removeStore(to)
  for (const [source, target] of [[from.facts, to.facts] as const, [from.ledger, to.ledger] as const]) {
    for (const suffix of FILE_SUFFIXES) if (existsSync(source + suffix)) copyFileSync(source + suffix, target + suffix)
  }
}

/** Creates premium accounts with one token each. Returns the tokens. The same seed gives the same tokens. */
export async function createTokens({ url }: StoreFiles, count: number, seed: number): Promise<string[]> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
  const now = await store.now()
  const tokens: string[] = []
  for (let at = 0; at < count; at++) {
    const email = `bench-${at}@example.com`
    const created = await store.ledger
      .as(TESTER)
      .createAccount({ email, role: 'user', plan: 'premium', periods: [], addons: [] }, now)
    const account = created ?? (await store.ledger.account(email))!
    const random = seededRandom(seed, at, 99)
    const token = makeToken(Uint8Array.from({ length: TOKEN_BYTES }, () => Math.floor(random() * 256)))
    if (created) await store.ledger.as(TESTER).createToken(account.id, newTokenRecord(token, 'bench', null), now)
    tokens.push(token)
  }
  await store.close()
  return tokens
}

/** Keeps a read transaction open, so that no part of the log is written back. Returns a function that ends it. */
export function blockCheckpoints({ facts }: StoreFiles): () => void {
  const database = new DatabaseSync(facts, { readOnly: true })
  database.exec('begin')
  database.prepare('select count(*) from metadata').get()
  return () => database.close()
}
