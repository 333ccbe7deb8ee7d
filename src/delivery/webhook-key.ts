/** The keys that sign the messages of webhooks: made once, shown once, and stored encrypted. */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Secret } from '../store/port/ledger.ts'
import type { SealedKey } from '../store/port/watch/webhooks.ts'

/** Standard Webhooks asks for 24 to 64 random bytes. */
const KEY_BYTES = 24
const SECRET_PREFIX = 'whsec_'
/** The purpose of the derived key (RFC 5869, section 3.2). The number is the version of the sealed form. */
const SEAL_PURPOSE = 'domaindex webhook key 1'
const CIPHER = 'aes-256-gcm'
const CIPHER_KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function makeWebhookKey(): Buffer {
  return randomBytes(KEY_BYTES)
}

/** The key as its owner sees it. */
export function webhookSecretText(key: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(key).toString('base64')
}

/** Encrypts a key. `secrets`: those of the installation, the newest first. */
export function sealWebhookKey([newest]: readonly Secret[], key: Uint8Array): SealedKey {
  if (newest === undefined) throw new Error('there is no secret to encrypt with')
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, cipherKey(newest), nonce)
  const encrypted = [cipher.update(key), cipher.final()]
  return { number: newest.number, bytes: Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted]) }
}

/** Decrypts a key. Returns null if the secret is gone, or the bytes were changed. */
export function openWebhookKey(secrets: readonly Secret[], { number, bytes }: SealedKey): Buffer | null {
  const secret = secrets.find((each) => each.number === number)
  if (secret === undefined) return null
  const sealed = Buffer.from(bytes)
  const start = NONCE_BYTES + TAG_BYTES
  const decipher = createDecipheriv(CIPHER, cipherKey(secret), sealed.subarray(0, NONCE_BYTES))
  try {
    decipher.setAuthTag(sealed.subarray(NONCE_BYTES, start))
    return Buffer.concat([decipher.update(sealed.subarray(start)), decipher.final()])
  } catch {
    return null
  }
}

function cipherKey({ bytes }: Secret): Buffer {
  return Buffer.from(hkdfSync('sha256', bytes, new Uint8Array(), SEAL_PURPOSE, CIPHER_KEY_BYTES))
}
