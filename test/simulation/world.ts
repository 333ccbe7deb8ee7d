/**
 * The simulated installation: two processes over one store and one disk. One answers the API, the other does all the
 * rest: imports, jobs and commands.
 *
 * The store is real SQLite in a real folder, outside the simulated disk. What it has committed survives each death and
 * each loss of power: the files of SQLite are not simulated.
 */

import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { seededRandom } from '../../bench/world/random.ts'
import type { Addon, Plan } from '../../src/accounts/account.ts'
import { parsePeriod } from '../../src/accounts/period.ts'
import { DEFAULT_PLAN_LIMITS, type PlanLimitTable } from '../../src/accounts/plan.ts'
import { hashToken, makeToken, newTokenRecord, TOKEN_BYTES, type TokenString } from '../../src/accounts/token.ts'
import { type Api, createApi } from '../../src/api/api.ts'
import { ApiMetrics } from '../../src/api/http/metrics.ts'
import { readSettings, type Settings } from '../../src/config/settings.ts'
import { openFolderFileStore } from '../../src/jobs/file-store/folder.ts'
import { prune } from '../../src/jobs/prune.ts'
import type { JobDependencies } from '../../src/jobs/steps.ts'
import type { InboxReport } from '../../src/registrations/inbox.ts'
import { createJobDependencies, pruneDependencies, prunedRows } from '../../src/server/job-dependencies.ts'
import { openSimilarityService, type SimilarityService } from '../../src/similar/query/similarity-service.ts'
import type { LockClock } from '../../src/store/named-lock.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import { type Instant, parseInstant } from '../../src/values/time.ts'
import { TESTER } from '../tester.ts'
import { SimulatedDisk } from './disk.ts'
import { FileCalls, pathOf } from './file-calls.ts'
import { NO_FAULT, type PlantedFault } from './planted.ts'
import { SimulatedProcess, storeOf } from './simulated-process.ts'
import { ACCOUNTS } from './steps.ts'

export const START = parseInstant('2026-11-20T12:00:00Z')!

/** Units per day: of one kind of account all are taken one by one, of another one they are leased too. */
export const LIMITS: PlanLimitTable = {
  ...DEFAULT_PLAN_LIMITS,
  free: { ...DEFAULT_PLAN_LIMITS.free, dailyCalls: 5, historyStates: 3 },
  basic: { ...DEFAULT_PLAN_LIMITS.basic, dailyCalls: 1_005 },
}

/** Waits end when their signal is aborted. The clock of a lock moves with the clock of the world. */
const stillClock = (now: () => Instant): LockClock => ({
  monotonicMs: () => now() * 1000,
  wait: (_, signal) =>
    signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
})

/** Milliseconds of waits after which the API settles. Outside of waits, the steps say when. */
const SETTLE_MS = 400

/** Waits of a prune are over at once. */
const hastyClock = (now: () => Instant): LockClock => ({ monotonicMs: () => now() * 1000, wait: async () => {} })

type Opened = { process: SimulatedProcess; store: Store; close: () => Promise<void> }
export type Worker = Opened & { settings: Settings; jobs: JobDependencies; holder: string; clock: LockClock }
export type Server = Opened & { api: Api }
export type Account = { id: number; token: TokenString; email: string }

/** The time of all processes. */
export class SimulatedClock {
  #milliseconds: number

  constructor(start: Instant) {
    this.#milliseconds = start * 1000
  }

  get now(): Instant {
    return Math.floor(this.#milliseconds / 1000)
  }

  pass(milliseconds: number): void {
    this.#milliseconds += milliseconds
  }
}

export class World {
  readonly clock: SimulatedClock
  readonly disk: SimulatedDisk
  readonly files: FileCalls
  readonly planted: PlantedFault
  readonly folder: string
  readonly accounts: Account[] = []
  readonly onReport: (report: InboxReport) => void
  worker!: Worker
  server: Server | null = null
  /** What has happened to the processes and the disk. */
  readonly totals = { deaths: 0, losses: 0, failures: 0 }
  #births = 0
  /** Milliseconds of waits since the API last settled. */
  #waited = 0
  readonly #stores: { [Access in 'read' | 'write']?: Store } = {}

  constructor(clock: SimulatedClock, folder: string, onReport: (report: InboxReport) => void, planted: PlantedFault) {
    this.clock = clock
    this.disk = new SimulatedDisk(() => clock.now * 1000)
    this.files = new FileCalls(this.disk)
    this.folder = folder
    this.onReport = onReport
    this.planted = planted
    Object.assign(this.files.rules, planted.rules)
  }

  /** A world with three accounts. */
  static async open(
    clock: SimulatedClock,
    onReport: World['onReport'],
    planted: PlantedFault = NO_FAULT,
  ): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'domaindex-simulation-'))
    const world = new World(clock, folder, onReport, planted)
    for (const path of ['inbox', 'zones', 'files']) world.disk.createFolder(path)
    world.disk.sync(world.disk.folder('/'))
    await cp(await emptyStore(), folder, { recursive: true })
    await world.startWorker()
    for (const plan of ACCOUNTS) world.accounts.push(await world.#createAccount(plan))
    return world
  }

  get now(): () => Instant {
    return () => this.clock.now
  }

  /** Lets the time of a wait pass. A call may wait for units that only the next settlement returns. */
  wait(milliseconds: number): void {
    this.clock.pass(milliseconds)
    this.#waited += milliseconds
    if (this.#waited < SETTLE_MS) return
    this.#waited = 0
    void this.server?.api.settleQuota() // it never rejects: faults go to the log
  }

  async startWorker(): Promise<void> {
    const opened = await this.#open('write')
    const { process: owner, store } = opened
    const settings = readSettings({
      DOMAINDEX_STORE: this.#url,
      DOMAINDEX_FILES: pathOf(owner, '/files'),
      DOMAINDEX_ZONES: pathOf(owner, '/zones'),
      DOMAINDEX_INBOX: pathOf(owner, '/inbox'),
      DOMAINDEX_KEEP_FILES: '90d',
      DOMAINDEX_KEEP_INBOX: '2d',
      DOMAINDEX_DAILY_BOUNDS: 'off',
    })
    const clock = stillClock(this.now)
    const jobs = await createJobDependencies(settings, store, this.onReport)
    const pruning = pruneDependencies(settings, store, jobs.fileStore)
    jobs.prune = async (lock) => ({
      rows: prunedRows(
        await prune(this.planted.prune?.(pruning) ?? pruning, {
          lock,
          clock: hastyClock(this.now),
          signal: lock.signal,
        }),
      ),
    })
    Object.defineProperty(process, 'pid', { value: FIRST_PID + owner.number, configurable: true, enumerable: true })
    const holder = `${hostname()} ${process.pid} simulated`
    this.worker = { ...opened, settings, jobs, holder, clock }
  }

  /** The process that answers the API, which is started if there is none. */
  async serve(): Promise<Server> {
    if (this.server !== null) return this.server
    const opened = await this.#open('read')
    const { store, process: owner } = opened
    const api = await createApi({
      store,
      similarSearch: lazySimilaritySearch(store),
      fileStore: openFolderFileStore(pathOf(owner, '/files')),
      settings: { cors: '*', trustedProxies: [] },
      limits: LIMITS,
      now: this.now,
      monotonicMs: () => this.clock.now * 1000,
      log: pino({ level: 'silent' }),
      metrics: new ApiMetrics(),
    })
    this.server = { ...opened, api }
    return this.server
  }

  /** Creates another token of an account, and revokes the one that it has. */
  async replaceToken(account: number): Promise<void> {
    const { ledger } = this.worker.store
    const known = this.accounts[account]!
    const former = await ledger.findToken(hashToken(known.token))
    const token = newToken()
    await ledger.as(TESTER).createToken(known.id, newTokenRecord(token, 'simulated', null), this.clock.now)
    known.token = token
    await ledger.as(TESTER).revokeToken(known.id, former!.token.id, this.clock.now)
  }

  /** Puts a file into the inbox as an operator should: complete, synced and at once. */
  put(path: string, text: string): void {
    const { disk } = this
    const temporary = `${path}.part`
    const file = disk.create(temporary, false)
    disk.setContent(file, Buffer.from(text))
    disk.sync(file)
    disk.rename(temporary, path)
    disk.sync(disk.folder(path.slice(0, path.lastIndexOf('/'))))
  }

  /** Starts the processes again that have died. */
  async replaceDead(): Promise<void> {
    const { worker, server } = this
    if (server?.process.isDead) {
      this.server = null
      this.totals.deaths++
      await server.close()
    }
    if (!worker.process.isDead) return
    this.totals.deaths++
    await worker.close()
    await this.startWorker()
  }

  /** All processes end at once, and the disk loses what was not synced. */
  losePower(salt: number): void {
    this.worker.process.die()
    this.server?.process.die()
    this.totals.losses++
    this.disk.losePower(seededRandom(salt, 0, 4))
  }

  async close(): Promise<void> {
    await this.server?.api.app.close()
    for (const opened of [this.server, this.worker]) await opened?.close()
    for (const store of Object.values(this.#stores)) await store.close()
    await rm(this.folder, { recursive: true, force: true })
  }

  get #url(): string {
    return urlIn(this.folder)
  }

  async #open(access: 'read' | 'write'): Promise<Opened> {
    const owner = new SimulatedProcess(++this.#births)
    this.files.add(owner)
    const store = await this.#store(access)
    const close = async (): Promise<void> => {
      for (const end of owner.onDeath) await end()
    }
    const own = storeOf(store, owner)
    return { process: owner, store: this.planted.store?.(own) ?? own, close }
  }

  /**
   * A store that no living process uses. To open one takes longer than most steps, so most processes take over the
   * connections of a dead one. None of its calls is in progress.
   */
  async #store(access: 'read' | 'write'): Promise<Store> {
    const former = this.#stores[access]
    if (former !== undefined && this.#births % REOPENED_BIRTHS !== 0) return former
    await former?.close()
    const store = await openStore(this.#url, { access, ledger: 'own', secret: null, now: this.now })
    this.#stores[access] = store
    return store
  }

  async #createAccount(plan: Plan): Promise<Account> {
    const email = `${plan}@example.com`
    const token = newToken()
    const period = parsePeriod(`${plan}:2026-01-01..`)
    const periods = period === null ? [] : [period]
    const addons: Addon[] = plan === 'premium' ? ['export', 'enriched'] : []
    const account = await this.worker.store.ledger
      .as(TESTER)
      .createAccount({ email, role: 'user', plan, periods, addons }, START, newTokenRecord(token, 'simulated', null))
    return { id: account!.id, token, email }
  }
}

/** The caches of a similarity service are large, and most processes of a simulation are not asked. */
function lazySimilaritySearch(store: Store): SimilarityService {
  let service: SimilarityService | null = null
  const open = (): SimilarityService => {
    service ??= openSimilarityService(store)
    return service
  }
  return {
    similar: (name, limit) => open().similar(name, limit),
    similarities: (name, others) => open().similarities(name, others),
  }
}

const newToken = (): TokenString => makeToken(randomBytes(TOKEN_BYTES))

/** Of so many processes, one opens its store again. */
const REOPENED_BIRTHS = 5

/** No real process has such an ID, so that each simulated process is dead for the next one. */
const FIRST_PID = 5_000_000

const urlIn = (folder: string): string => `sqlite:${join(folder, 'domaindex.db')}`

let empty: Promise<string> | null = null

/** A folder with an empty store, which all worlds of this process copy. */
function emptyStore(): Promise<string> {
  empty ??= (async () => {
    const folder = await mkdtemp(join(tmpdir(), 'domaindex-empty-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    await (await openStore(urlIn(folder), { access: 'write', ledger: 'own', secret: null })).close()
    return folder
  })()
  return empty
}
