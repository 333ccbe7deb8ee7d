/** Processes of continuous crawls, with a name server of the test. */

import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { TestContext } from 'node:test'
import { startDnsServer } from '../../lab/dns.ts'
import { LAB_SOA } from '../../lab/dns-reply.ts'
import type { DnsTable } from '../../lab/dns-table.ts'
import { folderOf, outcomeOf } from '../cli/run.ts'
import { know } from './world.ts'

export const NAMES = Array.from({ length: 60 }, (_, index) => `n${index}.example`)
export const ASKED = 'asked.example'
const TABLE: DnsTable = {
  'zone.example': { SOA: [LAB_SOA], NS: ['ns.example'] },
  ...Object.fromEntries([...NAMES, ASKED].map((name) => [name, { MX: [{ priority: 1, mail_server: 'mx.example' }] }])),
}
export const ENVIRONMENT = {
  DOMAINDEX_CRAWL_CONTACT: 'crawler@example.com',
  DOMAINDEX_CRAWL_SELF_CHECK: 'zones=zone.example missing=example ipv4only=none addresses=none',
  DOMAINDEX_CRAWL_ADMIN: '127.0.0.1:0',
  DOMAINDEX_CRAWL_RATE: '20',
  DOMAINDEX_CRAWL_LOOKUP_REQUESTS: '9',
  DOMAINDEX_PORT: '0',
  DOMAINDEX_JOB_TIMES: 'off',
  DOMAINDEX_INDEX: 'off',
  DOMAINDEX_ADMIN: 'off',
  DOMAINDEX_WORKERS: '1',
}

/** A store with names that were never probed, a resolver, and processes that end with the test. */
export async function processWorld(t: TestContext, store?: string) {
  const asked: string[] = []
  const dns = await startDnsServer(TABLE, ({ host, type }) => {
    if (type === 'MX') asked.push(host)
  })
  const folder = folderOf(t)
  const withStore: typeof folder.withStore = (work) => folder.withStore(work, store)
  await withStore(async (store) => know(store, NAMES, (await store.now()) - 60))
  const running: ReturnType<typeof outcomeOf>[] = []
  t.after(async () => {
    await dns.close()
    await Promise.all(running)
  })
  const start = (...args: string[]) => {
    const child = folder.start([...args, '--resolver', `${dns.address}:${dns.port}`], {
      ...ENVIRONMENT,
      ...(store !== undefined && { DOMAINDEX_STORE: store }),
    })
    t.after(() => child.kill('SIGKILL'))
    const outcome = outcomeOf(child)
    running.push(outcome)
    return { child, outcome, output: outputBy(child) }
  }
  return { ...folder, withStore, asked, start }
}

/** The log lines of a process so far. */
function outputBy({ stderr }: ChildProcessWithoutNullStreams) {
  let text = ''
  stderr.on('data', (chunk) => (text += chunk))
  return () =>
    text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { msg: string; pid: number; admin?: number })
}
