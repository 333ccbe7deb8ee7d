/** `domaindex demo`: crawls the lab, a small internet on this machine, and serves the results. */

import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Command } from 'commander'
import { EXAMPLE_DOMAINS, SHOWCASE_DOMAIN } from '../../../lab/lab.ts'
import type { NewAccount, Plan } from '../../accounts/account.ts'
import { makeToken, newTokenRecord, TOKEN_BYTES } from '../../accounts/token.ts'
import { createSignInLink, SIGN_IN_LINK_SECONDS } from '../../api/auth/sign-in-link.ts'
import type { ListenAddress } from '../../config/parse.ts'
import { readSettings, type Settings } from '../../config/settings.ts'
import { type JobScheduler, runDueJobs } from '../../jobs/job-scheduler.ts'
import { readPlanInputs, runStep } from '../../jobs/steps.ts'
import { importList } from '../../registrations/list/import-list.ts'
import { createJobDependencies } from '../../server/job-dependencies.ts'
import { listenFault } from '../../server/listen-fault.ts'
import { listen } from '../../server/metrics/admin-listener.ts'
import { startServer } from '../../server/primary.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { indexOnce } from '../../similar/index/run-indexer.ts'
import { processHolderName } from '../../store/named-lock.ts'
import { openStore } from '../../store/open.ts'
import type { Ledger } from '../../store/port/ledger.ts'
import type { Store } from '../../store/port/store.ts'
import { actorOf } from '../../store/shared/actor.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { addDays, type Day, dayOf, type Instant } from '../../values/time.ts'
import { settingParser } from '../program/arguments.ts'
import { crawlLab, type LabCrawl, nextSecond } from './lab.ts'

/** A reserved port. It answers every request with 503 until it is released. */
type ReservedPort = { port: number; release(): Promise<void> }

const MAX_PORT = 65_535

/** Days ago on which names were registered: the last week, and the days whose follow-ups are due. */
const DAYS_AGO = [31, 8, 7, 6, 5, 4, 3, 2, 1]

/** A day that has a daily file, the days that have each follow-up file, and a line about all files. */
type DemoFiles = { daily: Day; followup7: Day; followup30: Day; summary: string }

type DemoOptions = { port: number; folder: string }
/** The tokens by plan, and the ID of the operator. */
type DemoAccounts = Record<Exclude<Plan, 'local'>, string> & { operator: number }

const SUBSCRIBED_DAYS = 400
const DEMO_STARTING_MESSAGE =
  'Starting a small internet on this machine, crawling it, changing it and crawling it again.'

export function defineDemo(command: Command): void {
  command
    .option('--port <port>', 'port to listen on, on 127.0.0.1', settingParser('port'), 8080)
    .option('--folder <folder>', 'folder for its store', '.demo')
    .addHelpText('after', '\nThe store is rebuilt at every start. The demo ignores DOMAINDEX_ variables.')
    .action(runDemo)
}

async function runDemo({ port, folder }: DemoOptions): Promise<void> {
  const settings = demoSettings(port, folder)
  // Before the removal below, so that a demo already running on this port keeps its store.
  const reserved = await reservePort(settings)
  for (const path of demoPaths(settings, port, folder)) rmSync(path, { force: true, recursive: true })
  const store = await openStore(settings.store, {
    access: 'write',
    ledger: 'own',
    secret: settings.secret,
    demo: true,
  })
  console.log(DEMO_STARTING_MESSAGE)
  const crawled = await crawlLab(store)
  await indexPages(store)
  const files = await buildDemoFiles(settings, store, crawled.names)
  const accounts = await makeAccounts(store)
  const link = await createSignInLink(
    store.ledger,
    accounts.operator,
    `http://127.0.0.1:${reserved.port}`,
    await store.now(),
  )
  await store.close()
  await reserved.release()
  const { address, ended } = await startServer(
    { ...settings, port: reserved.port },
    { demo: true, examples: EXAMPLE_DOMAINS, settingNames: demoPortOptions(port) },
  )
  console.log(pageInstructions(address, link))
  console.log(demoInstructions(address, crawled, folder, accounts))
  console.log(fileInstructions(address, files, accounts.premium))
  await ended
}

/** Names the paths by port, so that two demos never share a file. */
function demoSettings(port: number, folder: string): Settings {
  const path = (name: string): string => join(folder, `demo-${port}${name}`)
  const locations = {
    store: `sqlite:${path('.db')}`,
    files: path('-files'),
    zones: path('-zones'),
    inbox: path('-inbox'),
  }
  return { ...readSettings({}), ...locations, port, admin: null, jobTimes: null, index: false, logLevel: 'warn' }
}

/** Returns every path that the demo creates. */
function demoPaths({ files, zones, inbox }: Settings, port: number, folder: string): string[] {
  const stores = [`demo-${port}.db`, `demo-${port}-ledger.db`, `demo-${port}-ledger.db-reserve`]
  return [files, zones, inbox, ...stores.flatMap((name) => ['', '-wal', '-shm'].map((end) => join(folder, name + end)))]
}

/** Indexes all start pages, so that /similar knows them from the first request. */
async function indexPages(store: Store): Promise<void> {
  const reporter = { progress() {} }
  await indexOnce({ store, holder: processHolderName(), clock: SYSTEM_CLOCK, reporter }, new AbortController().signal)
}

/** Creates one account per plan, each with a token, and an operator. */
async function makeAccounts({ ledger, now }: Store): Promise<DemoAccounts> {
  const instant = await now()
  const first = addDays(dayOf(instant), -SUBSCRIBED_DAYS)
  const make = async (plan: Plan, rest: Pick<NewAccount, 'periods' | 'addons'>): Promise<string> => {
    const token = makeToken(randomBytes(TOKEN_BYTES))
    const account: NewAccount = { email: `${plan}@demo.example`, role: 'user', plan, ...rest }
    await ledger.as(actorOf('domaindex demo')).createAccount(account, instant, newTokenRecord(token, 'demo', null))
    return token
  }
  return {
    free: await make('free', { periods: [], addons: [] }),
    basic: await make('basic', { periods: [{ plan: 'basic', first, last: null }], addons: [] }),
    premium: await make('premium', {
      periods: [{ plan: 'premium', first, last: null }],
      addons: ['export', 'enriched'],
    }),
    operator: await makeOperator(ledger, instant, first),
  }
}

/** Creates the account that the link signs in: it may see and change everything. */
async function makeOperator(ledger: Ledger, now: Instant, first: Day): Promise<number> {
  const account: NewAccount = {
    ...{ email: 'operator@demo.example', role: 'admin', plan: 'free' },
    periods: [{ plan: 'premium', first, last: null }],
    addons: ['export', 'enriched'],
  }
  return (await ledger.as(actorOf('domaindex demo')).createAccount(account, now))!.id
}

function pageInstructions(address: string, link: string): string {
  return [
    `domaindex is at ${address}/`,
    `Sign in with this link, once and within ${SIGN_IN_LINK_SECONDS / 60} minutes:`,
    `  ${link}`,
    '',
  ].join('\n')
}

function demoInstructions(
  address: string,
  { names, summaries }: LabCrawl,
  folder: string,
  { free, basic, premium }: DemoAccounts,
): string {
  const curl = (endpoint: string, body: object): string =>
    `  curl -sw '\\n' ${address}/v1.0/${endpoint} -d '${JSON.stringify(body)}'`
  return [
    ...summaries.map((summary) => `  ${summary}`),
    `${names.length} domains, each probed twice, are served on ${address}/v1.0/ (documentation: ${address}/docs).`,
    `All data is in ${folder} and is rebuilt at every start. Press Ctrl-C to stop.`,
    '',
    `  free     ${free}`,
    `  basic    ${basic}`,
    `  premium  ${premium}`,
    '',
    'Run these commands in another terminal:',
    curl('lookup', { token: free, query: SHOWCASE_DOMAIN }),
    curl('redirect', { token: free, query: SHOWCASE_DOMAIN, limit: 5 }),
    curl('reverseip', { token: free, query: SHOWCASE_DOMAIN, limit: 5 }),
    curl('dnshistory', { token: basic, query: SHOWCASE_DOMAIN, type: 'A' }),
    curl('similar', { token: free, query: SHOWCASE_DOMAIN, limit: 5 }),
  ].join('\n')
}

/** Returns one download command per file. */
function fileInstructions(
  address: string,
  { daily, followup7, followup30, summary }: DemoFiles,
  token: string,
): string {
  const curl = (endpoint: string, body: object): string =>
    `  curl -s ${address}/v1.0/${endpoint} -d '${JSON.stringify({ token, ...body })}' | gunzip | head -3`
  return [
    '',
    `Files: ${summary}.`,
    curl('daily', { date: daily }),
    curl('daily', { date: followup7, followup: 7 }),
    curl('daily', { date: followup30, followup: 30 }),
    curl('snapshot', { download: '1' }),
    curl('snapshot', { download: '1', enriched: '1' }),
  ].join('\n')
}

/** Imports the names as lists of these days and builds all due files. Throws what a build throws. */
async function buildDemoFiles(settings: Settings, store: Store, names: readonly DomainName[]): Promise<DemoFiles> {
  const signal = new AbortController().signal
  const today = dayOf(await store.now())
  const days = DAYS_AGO.map((ago) => addDays(today, -ago))
  for (const [dayIndex, day] of days.entries()) {
    const namesOfDay = names.filter((_, index) => index % days.length === dayIndex)
    await importDemoList(settings, store, day, namesOfDay)
  }
  await nextSecond()
  const dependencies = await createJobDependencies(settings, store, () => {})
  const scheduler: JobScheduler = {
    store,
    holder: processHolderName(),
    clock: SYSTEM_CLOCK,
    readInputs: async () => ({ ...(await readPlanInputs(dependencies)), times: [0], followupWait: 0 }),
    run: (step, lock) => runStep(dependencies, step, lock, { onRows: () => {} }),
    events: {
      done() {},
      failed(_, error) {
        throw error
      },
    },
  }
  await runDueJobs(scheduler, signal)
  const built = await dependencies.fileStore.list('daily')
  const [snapshot] = await dependencies.fileStore.list('snapshot')
  const [daily, followup7, followup30] = [days.at(-1)!, addDays(today, -8), addDays(today, -31)]
  const summary =
    `registrations of ${built.length} days up to ${daily}, their follow-ups after 7 and 30 days, ` +
    `and a snapshot of ${snapshot!.rows} names`
  return { daily, followup7, followup30, summary }
}

async function importDemoList(
  { zones }: Settings,
  store: Store,
  day: Day,
  names: readonly DomainName[],
): Promise<void> {
  const silent = { onReject() {}, onLines() {}, onNames() {} }
  const options = {
    root: zones,
    store,
    signal: new AbortController().signal,
    isStrict: true,
    acceptsLoss: false,
    ...silent,
  }
  const bytes = (async function* () {
    yield Buffer.from(names.map((name) => `${name}\n`).join(''))
  })()
  await importList(options, { path: 'the lab', day, bytes, name: 'lab' })
}

/** The names that messages use for host and port: the option --port sets the port of the demo. */
function demoPortOptions(port: number): { host: string; port: string } {
  const other = port > 0 && port < MAX_PORT ? port + 1 : MAX_PORT - 1
  return { host: '--port', port: `--port, as in npm start -- --port ${other}` }
}

/** Binds the port; 0 binds any free port. Throws CommandFault if the port cannot be bound. */
async function reservePort(requested: ListenAddress): Promise<ReservedPort> {
  const server = createServer((_request, response) => {
    response.writeHead(503, { 'Content-Type': 'text/plain', 'Retry-After': '5', Connection: 'close' })
    response.end('The demo is still crawling. It will answer here soon.\n')
  })
  try {
    const { port } = await listen(server, requested)
    const release = async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
    return { port, release }
  } catch (error) {
    throw listenFault(error as NodeJS.ErrnoException, requested, demoPortOptions(requested.port))
  }
}
