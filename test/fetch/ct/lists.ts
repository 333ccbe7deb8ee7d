/** Log lists with logs of the lab, and their signatures. */

import { generateKeyPairSync, sign } from 'node:crypto'
import type { LabLog } from '../../../lab/certificate-log/log.ts'
import { logIdOf } from '../../../src/fetch/ct/log/tree-head.ts'

type ListedLog = { lab: Pick<LabLog, 'url' | 'key'>; kind: 'tiles' | 'rfc6962'; state?: string }

/** The text of a list. */
export function logListOf(logs: readonly ListedLog[]): string {
  const entry = ({ lab, kind, state = 'usable' }: ListedLog) => ({
    description: `Lab ${kind}`,
    log_id: logIdOf(lab.key),
    key: lab.key.toString('base64'),
    mmd: 86_400,
    state: { [state]: { timestamp: '2026-01-01T00:00:00Z' } },
    ...(kind === 'tiles' ? { submission_url: 'https://submit.example/', monitoring_url: lab.url } : { url: lab.url }),
  })
  const of = (kind: ListedLog['kind']) => logs.filter((log) => log.kind === kind).map(entry)
  return JSON.stringify({
    version: '99.0',
    log_list_timestamp: '2026-11-20T00:00:00Z',
    operators: [
      { name: 'Lab', email: ['ct@lab.test'], logs: of('rfc6962'), tiled_logs: of('tiles') },
      { name: 'Nobody', logs: [] },
    ],
  })
}

/** A key, and its signature of a list. */
export function signedList(text: string): { pem: string; signature: Buffer } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  return {
    pem: publicKey.export({ format: 'pem', type: 'spki' }) as string,
    signature: sign('sha256', Buffer.from(text), privateKey),
  }
}
