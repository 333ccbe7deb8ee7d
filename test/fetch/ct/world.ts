/** Certificates of the lab's authority, and a follower of the lab's certificate log. */

import { X509Certificate } from 'node:crypto'
import type { TestContext } from 'node:test'
import { makeAuthority } from '../../../lab/authority.ts'
import { type LabEntry, type LabLog, startCertificateLog } from '../../../lab/certificate-log/log.ts'
import { followLog } from '../../../src/fetch/ct/follow-logs.ts'
import { openLogClient } from '../../../src/fetch/ct/log/log-client.ts'
import { logIdOf } from '../../../src/fetch/ct/log/tree-head.ts'
import type { CertificateLog, LogBatch, LogState } from '../../../src/fetch/ct/log.ts'

/** 2026-11-20, in milliseconds. */
export const LOG_TIME = Date.UTC(2026, 10, 20)

/** The names of each certificate of the lab's authority. */
export const CERTIFICATE_HOSTS = [
  ['www.shop.example', 'shop.example', '*.shop.example'],
  ['api.bank.co.uk', 'bank.co.uk'],
  ['alice.github.io'],
  ['münchen.example'.replace('münchen', 'xn--mnchen-3ya')],
  ['a.b.c.deep.example', 'other.test'],
]

let certificates: Promise<Buffer[]> | null = null

/** One certificate for each of CERTIFICATE_HOSTS, DER. */
export function labCertificates(): Promise<Buffer[]> {
  certificates ??= makeAuthority(Date.now()).then(({ identity }) =>
    Promise.all(CERTIFICATE_HOSTS.map(async (hosts) => new X509Certificate((await identity('valid', hosts)).cert).raw)),
  )
  return certificates
}

/** The TBSCertificate of a certificate: its first element. */
export function tbsOf(der: Buffer): Buffer {
  const header = (at: number): number => (der[at + 1]! < 0x80 ? 2 : 2 + (der[at + 1]! & 0x7f))
  const start = header(0)
  const lengthBytes = header(start) - 2
  const length = lengthBytes === 0 ? der[start + 1]! : der.readUIntBE(start + 2, lengthBytes)
  return der.subarray(start, start + header(start) + length)
}

/** Entries with the certificates in turn; every other one is a precertificate. */
export async function labEntries(count: number): Promise<LabEntry[]> {
  const ders = await labCertificates()
  return Array.from({ length: count }, (_, index) => {
    const der = ders[index % ders.length]!
    const isTbs = index % 2 === 1
    return { der: isTbs ? tbsOf(der) : der, isTbs, at: LOG_TIME + 1000 * index }
  })
}

export async function openFollower(t: TestContext, entries: LabEntry[], algorithm: 'ec' | 'rsa' = 'ec') {
  const lab = await startCertificateLog(entries, { algorithm, now: () => LOG_TIME + 3_600_000 })
  const client = openLogClient('domaindex/test', new AbortController().signal)
  t.after(async () => {
    await client.close()
    await lab.close()
  })
  const logOf = (kind: CertificateLog['kind']): CertificateLog => logOfLab(lab, kind)
  /** Follows to the head. Returns the batches. */
  const follow = async (
    kind: CertificateLog['kind'],
    state: LogState | null,
    startBack = 1_000_000,
  ): Promise<LogBatch[]> => {
    const batches: LogBatch[] = []
    for await (const batch of followLog(logOf(kind), state, { startBack, keepsCertificates: false, client }))
      batches.push(batch)
    return batches
  }
  return { lab, client, follow, logOf }
}

export function logOfLab(lab: LabLog, kind: CertificateLog['kind']): CertificateLog {
  return { id: logIdOf(lab.key), name: 'lab', kind, url: lab.url, key: lab.key }
}
