/** A world for the specification's tests: a store in a folder, a stopped clock, accounts, and the API over HTTP. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { pino } from 'pino'
import type { Account, NewAccount } from '../../src/accounts/account.ts'
import { parsePeriod } from '../../src/accounts/period.ts'
import type { PlanLimitTable } from '../../src/accounts/plan.ts'
import { hashToken, makeToken, newTokenRecord, TOKEN_BYTES, type TokenString } from '../../src/accounts/token.ts'
import { type Api, createApi } from '../../src/api/api.ts'
import type { ApiOptions } from '../../src/api/create-context.ts'
import { ApiMetrics } from '../../src/api/http/metrics.ts'
import type { WebPage } from '../../src/api/page/page.ts'
import type { FileStore } from '../../src/jobs/file-store/file-store.ts'
import { openFolderFileStore } from '../../src/jobs/file-store/folder.ts'
import { parseObservation } from '../../src/observe/observation-parser.ts'
import { cachedOperation } from '../../src/server/operation-state.ts'
import { SYSTEM_CLOCK } from '../../src/server/system-clock.ts'
import { indexOnce } from '../../src/similar/index/run-indexer.ts'
import { openSimilarityService, type SimilarityService } from '../../src/similar/query/similarity-service.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import { type Instant, parseInstant } from '../../src/values/time.ts'
import { TESTER } from '../tester.ts'
import { validator } from './validator.ts'

export type Parameters = Record<string, unknown>
/** A response. `body` is its JSON, or undefined without a body. */
export type Seen = { status: number; headers: Headers; text: string; body: unknown }
export type How = { method?: string; headers?: Record<string, string> }
export type Wanted = { plan?: Account['plan']; periods?: readonly string[]; addons?: Account['addons']; email?: string }
export type Known = { account: Account; token: TokenString }

/** The initial time of the world's clock. */
export const NOON = parseInstant('2026-11-20T12:00:00Z')!

export class World {
  /** Whole Unix seconds, and milliseconds of a monotonic clock. Both stand until a test moves them. */
  readonly clock = { now: NOON, ticks: 0 }
  readonly store: Store
  readonly folder: string
  readonly fileStore: FileStore
  /** The web page of the APIs that are started from now on. */
  page: WebPage | null = null
  readonly #apis: Api[] = []
  readonly #stores: Store[] = []
  #retrieval: SimilarityService
  #address = ''
  #accounts = 0
  #check: ReturnType<typeof validator> = () => {}

  constructor(store: Store, folder: string, clock: { now: Instant; ticks: number }) {
    this.store = store
    this.folder = folder
    this.fileStore = openFolderFileStore(join(folder, 'files'))
    this.clock = clock
    this.#retrieval = openSimilarityService(store)
  }

  get address(): string {
    return this.#address
  }

  /** Starts another API on the same store, which answers from now on. Earlier ones stay. */
  async serve(store: Store = this.store, limits?: PlanLimitTable, mail: ApiOptions['mail'] = null): Promise<void> {
    const { clock } = this
    const api = await createApi({
      store,
      similarSearch: {
        similar: (name, limit) => this.#retrieval.similar(name, limit),
        similarities: (name, others) => this.#retrieval.similarities(name, others),
      },
      fileStore: this.fileStore,
      settings: { cors: '*', trustedProxies: [] },
      page: this.page,
      operation: cachedOperation(this.store, this.fileStore, () => clock.ticks),
      limits,
      mail,
      now: () => clock.now,
      monotonicMs: () => clock.ticks,
      log: pino({ level: 'silent' }),
      metrics: new ApiMetrics(),
    })
    this.#address = await api.app.listen({ host: '127.0.0.1', port: 0 })
    this.#apis.push(api)
    this.#check = validator(await (await fetch(`${this.#address}/openapi.json`)).json())
  }

  /** Opens the store again, as another process would, and answers from it. */
  async reopen(): Promise<void> {
    const store = await openStore(urlOf(this.folder), {
      access: 'read',
      ledger: 'thread',
      secret: null,
      now: () => this.clock.now,
    })
    this.#stores.push(store)
    await this.serve(store)
  }

  async close(): Promise<void> {
    for (const { app } of this.#apis) await app.close()
    for (const store of [...this.#stores, this.store]) await store.close()
    await rm(this.folder, { recursive: true })
  }

  /** Imports observations, each as it would be in a line of a file. */
  async ingest(...lines: object[]): Promise<void> {
    const batch = lines.map((line) => {
      const observation = parseObservation(JSON.stringify(line))
      if (typeof observation === 'string') throw new Error(observation)
      return observation
    })
    await ingest(this.store, batch)
  }

  /** Brings the index of /similar up to date, as `domaindex index` does. */
  async index(): Promise<void> {
    const report = {
      progress() {},
    }
    const { signal } = new AbortController()
    const done = await indexOnce({ store: this.store, holder: 'test', clock: SYSTEM_CLOCK, reporter: report }, signal)
    assert.equal(done?.hasPending, false)
    this.#retrieval = openSimilarityService(this.store)
  }

  /** An account with one token. Periods as in `premium:2026-01-01..`. */
  async account({ plan = 'free', periods = [], addons = [], ...rest }: Wanted = {}): Promise<Known> {
    const { email = `user${this.#accounts++}@example.com` } = rest
    const read = periods.map((period) => parsePeriod(period)!)
    const made: NewAccount = { email, role: 'user', plan, periods: read, addons }
    const token = makeToken(randomBytes(TOKEN_BYTES))
    const account = await this.store.ledger
      .as(TESTER)
      .createAccount(made, this.clock.now, newTokenRecord(token, 'test', null))
    assert.ok(account !== null, email)
    return { account, token }
  }

  /** Another token of an account. */
  async token(account: Account, expires: Instant | null = null): Promise<TokenString> {
    const token = makeToken(randomBytes(TOKEN_BYTES))
    await this.store.ledger
      .as(TESTER)
      .createToken(account.id, newTokenRecord(token, 'further', expires), this.clock.now)
    return token
  }

  async revoke({ account, token }: Known): Promise<void> {
    const standing = await this.store.ledger.findToken(hashToken(token))
    assert.ok(await this.store.ledger.as(TESTER).revokeToken(account.id, standing!.token.id, this.clock.now))
  }

  /** Requests an endpoint by POST, or by another method with the parameters in the query string. */
  ask(endpoint: string, parameters: Parameters, { method = 'POST', headers = {} }: How = {}): Promise<Seen> {
    if (method === 'POST') return this.send(`/v1.0/${endpoint}`, { method, headers, body: JSON.stringify(parameters) })
    const query = new URLSearchParams(parameters as Record<string, string>)
    return this.send(`/v1.0/${endpoint}?${query}`, { method, headers })
  }

  /** Sends any request. A JSON response of a path in the OpenAPI document must match it. */
  async send(path: string, how: RequestInit): Promise<Seen> {
    const seen = await readAnswer(await fetch(`${this.#address}${path}`, how))
    if (seen.text !== '') this.#check(path, how.method ?? 'GET', seen.status, seen.body)
    return seen
  }
}

function urlOf(folder: string): string {
  return `sqlite:${join(folder, 'domaindex.db')}`
}

async function readAnswer(response: Response): Promise<Seen> {
  const { status, headers } = response
  const text = await response.text()
  return { status, headers, text, body: text === '' ? undefined : JSON.parse(text) }
}

let empty: Promise<string> | null = null

/** A folder with an empty store, which the worlds of a process copy. It has no secret: each store makes its own. */
async function createEmpty(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-empty-'))
  process.once('exit', () => rmSync(folder, { recursive: true }))
  await (await openStore(urlOf(folder), { access: 'write', ledger: 'own', secret: null })).close()
  return folder
}

/**
 * A world that is removed after the tests of the file. Its ledger writes in the thread of the test: a thread of its own
 * takes longer to start than the rest, and the conformance suite and the tests of `serve` have one.
 */
export async function makeWorld(): Promise<World> {
  const clock = { now: NOON, ticks: 0 }
  empty ??= createEmpty()
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-spec-'))
  await cp(await empty, folder, { recursive: true })
  const store = await openStore(urlOf(folder), {
    access: 'write',
    ledger: 'own',
    secret: null,
    now: () => clock.now,
  })
  const world = new World(store, folder, clock)
  await world.serve()
  after(() => world.close())
  return world
}
