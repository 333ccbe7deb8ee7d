/** What surrounds the installation of a soak: a resolver, a certificate log, and the receiver of a webhook. */

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startCertificateLog } from '../../lab/certificate-log/log.ts'
import { startDnsServer } from '../../lab/dns.ts'
import { LAB_SOA } from '../../lab/dns-reply.ts'
import type { DnsTable } from '../../lab/dns-table.ts'
import { logListOf } from '../../test/fetch/ct/lists.ts'
import { labEntries } from '../../test/fetch/ct/world.ts'
import type { CrawledNames } from './model.ts'

const LOG_ENTRIES = { first: 100, more: 5, all: 5_000 }

export type Surroundings = Awaited<ReturnType<typeof openSurroundings>>

export async function openSurroundings(crawled: CrawledNames) {
  const table = (): DnsTable => ({
    'zone.example': { SOA: [LAB_SOA], NS: ['ns.example'] },
    ...Object.fromEntries(crawled.names.map((name, index) => [name, { A: crawled.addressesOf(index) }])),
  })
  const resolver = await startDnsServer(table())
  const entries = await labEntries(LOG_ENTRIES.all)
  const log = await startCertificateLog(entries.splice(0, LOG_ENTRIES.first), {
    algorithm: 'ec',
    now: () => Date.now(),
  })
  /** The IDs of the messages that the webhook received. */
  const received = new Set<string>()
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      received.add(String(request.headers['webhook-id']))
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  return {
    resolver,
    received,
    webhook: `http://localhost:${(receiver.address() as AddressInfo).port}/hook`,
    writeLogList: (path: string) => writeFileSync(path, logListOf([{ lab: log, kind: 'tiles' }])),
    /** Gives some names another address, and the log further entries. */
    change(random: () => number, share: number): void {
      crawled.change(random, share)
      resolver.change(table())
      log.entries.push(...entries.splice(0, LOG_ENTRIES.more))
    },
    async close(): Promise<void> {
      receiver.close()
      receiver.closeAllConnections()
      await Promise.all([resolver.close(), log.close()])
    },
  }
}
