/** `domaindex demo`: crawls a small internet of its own, the lab, and serves what it saw. */

import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { SHOWN } from '../../lab/lab.ts'
import type { NewAccount, Plan } from '../accounts/account.ts'
import { keptToken, makeToken, TOKEN_BYTES } from '../accounts/token.ts'
import { readSettings, SETTINGS, type Settings } from '../config.ts'
import { indexOnce } from '../retrieval/indexer.ts'
import { actorOf } from '../store/actor.ts'
import { holderName } from '../store/duty.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { addDays, dayOf } from '../words/time.ts'
import { CLOCK } from './clock.ts'
import { type Filed, fileNames } from './demo/files.ts'
import { demoNames, holdPort } from './demo/hold.ts'
import { type Crawled, crawlLab } from './demo/lab.ts'
import { startServer } from './serve/primary.ts'

type Options = { port: number; folder: string }
type Tokens = Record<Exclude<Plan, 'local'>, string>

const SUBSCRIBED_DAYS = 400
const BEGINNING =
  'A small internet of name servers and web servers is started on this machine, crawled, changed and crawled again.'

export function define(command: Command): void {
  command
    .option('--port <port>', 'where it listens, on 127.0.0.1', readPort, 8080)
    .option('--folder <folder>', 'where its store lies', '.demo')
    .addHelpText('after', '\nThe store is made anew at every start. The settings of the environment do not count.')
    .action(demo)
}

async function demo({ port, folder }: Options): Promise<void> {
  const settings = settingsOf(port, folder)
  const held = await holdPort(settings) // before anything is removed: a demo that runs there keeps its store
  for (const path of pathsOf(settings, port, folder)) rmSync(path, { force: true, recursive: true })
  const { store: url, secret } = settings
  const store = await openStore(url, { access: 'write', ledger: 'own', secret, demo: true })
  console.log(BEGINNING)
  const crawled = await crawlLab(store)
  await indexPages(store)
  const filed = await fileNames(settings, store, crawled.names)
  const tokens = await makeAccounts(store)
  await store.close()
  await held.release()
  const { address, ended } = await startServer({ ...settings, port: held.port }, { demo: true, names: demoNames(port) })
  console.log(words(address, crawled, folder, tokens))
  console.log(fileWords(address, filed, tokens.premium))
  await ended
}

function readPort(text: string): number {
  const port = SETTINGS.port.read(text)
  if (port === undefined) throw new InvalidArgumentError(`It must be ${SETTINGS.port.may}.`)
  return port
}

/** Two demos at once share nothing, because they do not share a port. */
function settingsOf(port: number, folder: string): Settings {
  const path = (name: string): string => join(folder, `demo-${port}${name}`)
  const places = { store: `sqlite:${path('.db')}`, files: path('-files'), zones: path('-zones'), inbox: path('-inbox') }
  return { ...readSettings({}), ...places, port, admin: null, night: null, index: false, logLevel: 'warn' }
}

/** All that it leaves behind. */
function pathsOf({ files, zones, inbox }: Settings, port: number, folder: string): string[] {
  const stores = [`demo-${port}.db`, `demo-${port}-ledger.db`, `demo-${port}-ledger.db-reserve`]
  return [files, zones, inbox, ...stores.flatMap((name) => ['', '-wal', '-shm'].map((end) => join(folder, name + end)))]
}

/** Files what the start pages say, so that /similar knows all of them from the first question on. */
async function indexPages(store: Store): Promise<void> {
  const tell = {
    progress() {},
  }
  await indexOnce({ store, holder: holderName(), clock: CLOCK, tell }, new AbortController().signal)
}

/** An account a plan, each with a token. */
async function makeAccounts({ ledger, now }: Store): Promise<Tokens> {
  const instant = await now()
  const first = addDays(dayOf(instant), -SUBSCRIBED_DAYS)
  const make = async (plan: Plan, rest: Pick<NewAccount, 'periods' | 'addons'>): Promise<string> => {
    const token = makeToken(randomBytes(TOKEN_BYTES))
    const account: NewAccount = { email: `${plan}@demo.example`, role: 'user', plan, ...rest }
    await ledger.as(actorOf('domaindex demo')).createAccount(account, instant, keptToken(token, 'demo', null))
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

function words(
  address: string,
  { names, summaries }: Crawled,
  folder: string,
  { free, basic, premium }: Tokens,
): string {
  const curl = (endpoint: string, body: object): string =>
    `  curl -sw '\\n' ${address}/v1.0/${endpoint} -d '${JSON.stringify(body)}'`
  return [
    ...summaries.map((summary) => `  ${summary}`),
    `${names.length} domains, each visited twice, are served on ${address}/v1.0/ (documentation: ${address}/docs).`,
    `All of it lies in ${folder} and is made anew at every start. Ctrl-C ends it.`,
    '',
    `  free     ${free}`,
    `  basic    ${basic}`,
    `  premium  ${premium}`,
    '',
    'Paste into another terminal:',
    curl('lookup', { token: free, query: SHOWN }),
    curl('redirect', { token: free, query: SHOWN, limit: 5 }),
    curl('reverseip', { token: free, query: SHOWN, limit: 5 }),
    curl('dnshistory', { token: basic, query: SHOWN, type: 'A' }),
    curl('similar', { token: free, query: SHOWN, limit: 5 }),
  ].join('\n')
}

/** A line for each file; only errors would be JSON. */
function fileWords(address: string, { daily, followup7, followup30, summary }: Filed, token: string): string {
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
