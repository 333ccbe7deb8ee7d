/** `domaindex demo`: crawls a small internet of its own, the lab, and serves what it saw. */

import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { SHOWCASE_DOMAIN } from '../../lab/lab.ts'
import type { NewAccount, Plan } from '../accounts/account.ts'
import { makeToken, newTokenRecord, TOKEN_BYTES } from '../accounts/token.ts'
import { readSettings, SETTINGS, type Settings } from '../config/settings.ts'
import { startServer } from '../server/primary.ts'
import { SYSTEM_CLOCK } from '../server/system-clock.ts'
import { indexOnce } from '../similar/index/run-indexer.ts'
import { processHolderName } from '../store/named-lock.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/port/store.ts'
import { actorOf } from '../store/shared/actor.ts'
import { addDays, dayOf } from '../values/time.ts'
import { buildDemoFiles, type DemoFiles } from './demo/files.ts'
import { crawlLab, type LabCrawl } from './demo/lab.ts'
import { demoPortOptions, reservePort } from './demo/reserve-port.ts'

type DemoOptions = { port: number; folder: string }
type DemoTokens = Record<Exclude<Plan, 'local'>, string>

const SUBSCRIBED_DAYS = 400
const DEMO_STARTING_MESSAGE =
  'A small internet of name servers and web servers is started on this machine, crawled, changed and crawled again.'

export function defineDemo(command: Command): void {
  command
    .option('--port <port>', 'where it listens, on 127.0.0.1', parsePortArgument, 8080)
    .option('--folder <folder>', 'where its store lies', '.demo')
    .addHelpText('after', '\nThe store is made anew at every start. The settings of the environment do not count.')
    .action(runDemo)
}

async function runDemo({ port, folder }: DemoOptions): Promise<void> {
  const settings = demoSettings(port, folder)
  const held = await reservePort(settings) // before anything is removed: a demo that runs there keeps its store
  for (const path of demoPaths(settings, port, folder)) rmSync(path, { force: true, recursive: true })
  const { store: url, secret } = settings
  const store = await openStore(url, { access: 'write', ledger: 'own', secret, demo: true })
  console.log(DEMO_STARTING_MESSAGE)
  const crawled = await crawlLab(store)
  await indexPages(store)
  const filed = await buildDemoFiles(settings, store, crawled.names)
  const tokens = await makeAccounts(store)
  await store.close()
  await held.release()
  const { address, ended } = await startServer(
    { ...settings, port: held.port },
    { demo: true, settingNames: demoPortOptions(port) },
  )
  console.log(demoInstructions(address, crawled, folder, tokens))
  console.log(fileInstructions(address, filed, tokens.premium))
  await ended
}

function parsePortArgument(text: string): number {
  const port = SETTINGS.port.parse(text)
  if (port === undefined) throw new InvalidArgumentError(`It must be ${SETTINGS.port.allowed}.`)
  return port
}

/** Two demos at once share nothing, because they do not share a port. */
function demoSettings(port: number, folder: string): Settings {
  const path = (name: string): string => join(folder, `demo-${port}${name}`)
  const places = { store: `sqlite:${path('.db')}`, files: path('-files'), zones: path('-zones'), inbox: path('-inbox') }
  return { ...readSettings({}), ...places, port, admin: null, jobTimes: null, index: false, logLevel: 'warn' }
}

/** All that it leaves behind. */
function demoPaths({ files, zones, inbox }: Settings, port: number, folder: string): string[] {
  const stores = [`demo-${port}.db`, `demo-${port}-ledger.db`, `demo-${port}-ledger.db-reserve`]
  return [files, zones, inbox, ...stores.flatMap((name) => ['', '-wal', '-shm'].map((end) => join(folder, name + end)))]
}

/** Files what the start pages say, so that /similar knows all of them from the first question on. */
async function indexPages(store: Store): Promise<void> {
  const reporter = {
    progress() {},
  }
  await indexOnce({ store, holder: processHolderName(), clock: SYSTEM_CLOCK, reporter }, new AbortController().signal)
}

/** An account a plan, each with a token. */
async function makeAccounts({ ledger, now }: Store): Promise<DemoTokens> {
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
  }
}

function demoInstructions(
  address: string,
  { names, summaries }: LabCrawl,
  folder: string,
  { free, basic, premium }: DemoTokens,
): string {
  const curl = (endpoint: string, body: object): string =>
    `  curl -sw '\\n' ${address}/v1.0/${endpoint} -d '${JSON.stringify(body)}'`
  return [
    ...summaries.map((summary) => `  ${summary}`),
    `${names.length} domains, each probed twice, are served on ${address}/v1.0/ (documentation: ${address}/docs).`,
    `All of it lies in ${folder} and is made anew at every start. Ctrl-C ends it.`,
    '',
    `  free     ${free}`,
    `  basic    ${basic}`,
    `  premium  ${premium}`,
    '',
    'Paste into another terminal:',
    curl('lookup', { token: free, query: SHOWCASE_DOMAIN }),
    curl('redirect', { token: free, query: SHOWCASE_DOMAIN, limit: 5 }),
    curl('reverseip', { token: free, query: SHOWCASE_DOMAIN, limit: 5 }),
    curl('dnshistory', { token: basic, query: SHOWCASE_DOMAIN, type: 'A' }),
    curl('similar', { token: free, query: SHOWCASE_DOMAIN, limit: 5 }),
  ].join('\n')
}

/** A line for each file; only errors would be JSON. */
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
