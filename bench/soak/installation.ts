/** The installation of a soak: its folder, disk and database, its settings, and a server that is started again if it ends. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import {
  domaindexCommand,
  makeTemporaryFolder,
  type RunningProcess,
  runProcess,
  startProcess,
  stopProcess,
  waitForOutput,
} from '../measure/process.ts'
import { connectionConfig, type PostgresServer, startPostgresServer } from '../world/postgres.ts'

export type SoakEngine = 'SQLite' | 'PostgreSQL'

/** Seconds for a start on a loaded machine. */
const START_SECONDS = 300
/** The bytes of the disk of a SQLite store. */
const DISK_SIZE = '2g'
const SETTINGS = {
  DOMAINDEX_PORT: '0',
  DOMAINDEX_ADMIN: 'off',
  DOMAINDEX_CRAWL_ADMIN: 'off',
  DOMAINDEX_WORKERS: '2',
  DOMAINDEX_POOL: '6',
  DOMAINDEX_JOB_TIMES: everyMinute(),
  DOMAINDEX_MIN_DISK_FREE: '1M',
  DOMAINDEX_LOG_LEVEL: 'warn',
  DOMAINDEX_CRAWL_CONTACT: 'crawler@example.com',
  DOMAINDEX_CRAWL_SELF_CHECK: 'zones=zone.example missing=example ipv4only=none unfiltered=none addresses=none',
  DOMAINDEX_CRAWL_RATE: '20',
  DOMAINDEX_CRAWL_MIN_INTERVAL: '1m',
  DOMAINDEX_CRAWL_MAX_INTERVAL: '1m',
  DOMAINDEX_WEBHOOK_PRIVATE: 'on',
}

function everyMinute(): string {
  const two = (number: number): string => String(number).padStart(2, '0')
  return Array.from({ length: 1_440 }, (_, minute) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`).join()
}

export class Installation {
  readonly folder: string
  /** The folder of the store, on a disk of its own; null if none could be mounted. */
  readonly disk: string | null
  readonly env: Record<string, string>
  postgres: PostgresServer | null
  server!: RunningProcess
  origin = ''
  #isStopping = false
  #starts = 0
  readonly #serveOptions: readonly string[]

  private constructor(folder: string, disk: string | null, postgres: PostgresServer | null, resolver: string) {
    this.folder = folder
    this.disk = disk
    this.postgres = postgres
    const sqlite = `sqlite:${join(disk ?? folder, 'store.db')}`
    this.env = {
      ...SETTINGS,
      DOMAINDEX_STORE: postgres === null ? sqlite : `postgres://bench@localhost/soak?host=${postgres.socket}`,
      DOMAINDEX_FILES: this.path('files'),
      DOMAINDEX_ZONES: this.path('zones'),
      DOMAINDEX_INBOX: this.path('inbox'),
      DOMAINDEX_CT_LIST: this.path('logs.json'),
    }
    this.#serveOptions = ['--crawl', '--ct', '--resolver', resolver]
  }

  static async create(engine: SoakEngine, resolver: string): Promise<Installation> {
    const folder = makeTemporaryFolder()
    if (engine === 'SQLite') return new Installation(folder, mountDisk(join(folder, 'disk')), null, resolver)
    const postgres = await startPostgresServer(folder)
    const client = new pg.Client({ ...connectionConfig(postgres.socket), database: 'postgres' })
    await client.connect()
    await client.query('create database soak')
    await client.end()
    return new Installation(folder, null, postgres, resolver)
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  /** Runs a command to its end. Throws unless its exit code is one of `codes`. */
  run(args: readonly string[], codes = [0]): Promise<string> {
    return runProcess(domaindexCommand(...args), { env: this.env }, codes)
  }

  start(args: readonly string[]): RunningProcess {
    return startProcess(domaindexCommand(...args), { env: this.env })
  }

  /** Starts the server, and again whenever it ends, as an init system does. */
  async serve(): Promise<void> {
    const outputFile = this.path(`server-${this.#starts++}.log`)
    this.server = startProcess(domaindexCommand('serve', ...this.#serveOptions), { env: this.env, outputFile })
    const { exited } = this.server
    const [origin] = await waitForOutput(this.server, /http:\/\/[\d.]+:\d+/, START_SECONDS)
    this.origin = origin
    void exited.then(() => {
      if (!this.#isStopping) void this.serve().catch((error: Error) => console.error(error.message))
    })
  }

  /** Waits until the server says that it is ready. Throws after some minutes. */
  async waitUntilReady(): Promise<void> {
    for (const deadline = performance.now() + START_SECONDS * 1_000; performance.now() < deadline; await sleep(200)) {
      const response = await fetch(`${this.origin}/readyz`).catch(() => null)
      if (response?.ok === true) return
    }
    throw new Error(`the server was not ready in ${START_SECONDS} s`)
  }

  async stopServing(): Promise<void> {
    this.#isStopping = true
    await stopProcess(this.server)
  }

  async restartPostgres(): Promise<void> {
    await stopProcess(this.postgres!.running, 'SIGINT') // its fast shutdown
    this.postgres = await startPostgresServer(this.folder)
  }

  get logBytes(): number {
    const logs = readdirSync(this.folder).filter((name) => /^server-\d+\.log$/.test(name))
    return logs.reduce((sum, name) => sum + statSync(this.path(name)).size, 0)
  }

  async remove(): Promise<void> {
    await this.stopServing()
    if (this.postgres !== null) await stopProcess(this.postgres.running, 'SIGINT')
    if (this.disk !== null) execFileSync('/bin/umount', ['--lazy', this.disk])
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Null if this user may not mount: then the disk is never full. */
function mountDisk(path: string): string | null {
  mkdirSync(path, { recursive: true })
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', `size=${DISK_SIZE}`, 'tmpfs', path], { stdio: 'ignore' })
    return path
  } catch {
    return null
  }
}
