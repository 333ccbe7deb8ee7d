/** A folder for zones, and a transfer server of the lab with a test clock. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { TlsOptions } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import type { LabZone } from '../../../lab/transfers/messages.ts'
import { startTransferServer, type TransferBehaviour } from '../../../lab/transfers/server.ts'
import type { LabKey } from '../../../lab/transfers/signature.ts'
import {
  fetchTransfers,
  type TransferTarget,
  type ZoneTransferResult,
  type ZoneTransfers,
} from '../../../src/fetch/axfr/fetch-transfers.ts'
import type { TsigKey } from '../../../src/fetch/axfr/tsig.ts'

/** Noon of 2026-11-20. */
export const NOW = Date.UTC(2026, 10, 20, 12) / 1000
const SECRET = Buffer.from('a secret of the lab that nobody else may see')

export const LAB_KEY: LabKey = { hash: 'sha256', name: 'lab-key', secret: SECRET }
export const KEY: TsigKey = { algorithm: 'hmac-sha256', name: 'lab-key', secret: SECRET }
export const LAB_KEY_512: LabKey = { ...LAB_KEY, hash: 'sha512' }
export const KEY_512: TsigKey = { ...KEY, algorithm: 'hmac-sha512' }

export const labels = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `name-${from + index}`)

export async function openTransfers(
  t: TestContext,
  zones: Record<string, LabZone>,
  behaviour: TransferBehaviour = { key: null },
  tls: TlsOptions | null = null,
) {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-axfr-'))
  const inbox = join(folder, 'inbox')
  mkdirSync(inbox)
  const clock = { now: NOW }
  const waits: number[] = []
  const server = await startTransferServer(zones, () => clock.now, behaviour, tls)
  t.after(async () => {
    await server.close()
    rmSync(folder, { recursive: true })
  })
  const target = (zone: string, key: TsigKey | null = null): TransferTarget => ({
    zone,
    key,
    servers: [{ host: '127.0.0.1', port: server.port, tls: null }],
  })
  const fetch = (
    targets: readonly TransferTarget[],
    options: Partial<ZoneTransfers> = {},
  ): Promise<ZoneTransferResult[]> =>
    fetchTransfers({
      targets,
      folder: inbox,
      signal: new AbortController().signal,
      now: () => clock.now,
      wait: async (milliseconds) => waits.push(milliseconds),
      has: async (_zone, _day, file) => files().includes(file),
      onNames() {},
      onEnded() {},
      ...options,
    })
  /** The files of the inbox, also incomplete ones, without what is kept of each zone. */
  const files = (): string[] =>
    readdirSync(inbox, { recursive: true, encoding: 'utf8' }).filter(
      (entry) => !/^transfers(\/[a-z.]+\.json)?$/.test(entry),
    )
  const text = (file: string): string => gunzipSync(readFileSync(join(inbox, file))).toString('latin1')
  return { server, clock, waits, inbox, target, fetch, files, text }
}

/** Fetches one zone that must fail, and returns the reason without the server. */
export async function failureOf(
  world: Awaited<ReturnType<typeof openTransfers>>,
  key: TsigKey | null = null,
  options: Partial<ZoneTransfers> = {},
): Promise<string> {
  const [result] = await world.fetch([world.target('lab.test', key)], options)
  if (result!.outcome !== 'failed') throw new Error(`the transfer ended as ${result!.outcome}`)
  if (world.files().length > 0) throw new Error(`it left ${world.files().join(', ')}`)
  return result!.reason.replace(/^127\.0\.0\.1: /, '')
}

/** The names in a master file: owners of NS records below the apex. */
export const namesIn = (text: string): string[] => [
  ...new Set(text.split('\n').flatMap((line) => /^(\S+)\.lab\.test\. NS /.exec(line)?.[1] ?? [])),
]

/** Holds a transfer of the lab's server after its first message, until it is released. */
export function holdTransfer() {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  async function beforeMessage(index: number): Promise<void> {
    if (index !== 1) return
    reached.resolve()
    await released.promise
  }
  return { behaviour: { key: null, beforeMessage }, reached: reached.promise, release: released.resolve }
}
