/** openssl as a reference tool: its default verdict on what a server presents, with Node's error codes. */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

/** The error numbers of X509_verify_cert(3ossl) and Node's codes. Node has none for weak keys and digests. */
const CODES = new Map([
  [2, 'UNABLE_TO_GET_ISSUER_CERT'],
  [9, 'CERT_NOT_YET_VALID'],
  [10, 'CERT_HAS_EXPIRED'],
  [18, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  [19, 'SELF_SIGNED_CERT_IN_CHAIN'],
  [20, 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  [21, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  [26, 'INVALID_PURPOSE'],
  [62, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  [66, 'UNSPECIFIED'], // X509_V_ERR_EE_KEY_TOO_SMALL
  [67, 'UNSPECIFIED'], // X509_V_ERR_CA_KEY_TOO_SMALL
  [68, 'UNSPECIFIED'], // X509_V_ERR_CA_MD_TOO_WEAK
  [79, 'INVALID_CA'],
])
const OTHER_NAME = 62

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** `roots`: a PEM file. `at`: seconds since 1970, by default now. */
export type Question = { port: number; host: string; roots: string; at?: number }

/**
 * The code of the verdict, null for valid, undefined if no certificate was presented. Security level 2 is OpenSSL's
 * default from 3.2 on. Of several errors the last counts, as in Node, and a wrong name only if there is no other.
 */
export async function askOpenssl({ port, host, roots, at }: Question): Promise<string | null | undefined> {
  const names = ['-servername', host, '-verify_hostname', host]
  const trust = ['-CAfile', roots, '-no-CApath', '-no-CAstore', '-cipher', 'DEFAULT@SECLEVEL=2']
  const clock = at === undefined ? [] : ['-attime', String(at)]
  const text = await run(['s_client', '-connect', `127.0.0.1:${port}`, ...names, ...trust, ...clock])
  if (!text.includes('BEGIN CERTIFICATE')) return undefined
  const errors = [...text.matchAll(/verify error:num=(\d+)/g)].map(([, digits]) => Number(digits))
  const last = errors.findLast((number) => number !== OTHER_NAME) ?? errors[0]
  return last === undefined ? null : (CODES.get(last) ?? `openssl ${last}`)
}

/** Without the clock that is set for this process (test/probe/clock.ts). */
async function run(args: readonly string[]): Promise<string> {
  const { LD_PRELOAD: _, ...env } = process.env
  const child = spawn('openssl', args, { env })
  child.stdin.on('error', () => {})
  child.stdin.end()
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (text += piece))
  await once(child, 'close')
  return text
}
