/** The installation's secrets: parses those of the operator and generates new ones. */

import { createHash, randomBytes } from 'node:crypto'
import { SECONDS_PER_DAY } from '../../values/time.ts'
import { StoreFault } from '../port/fault.ts'
import type { Secret } from '../port/ledger.ts'

/** Seconds for which a replaced secret still signs, so that every process knows the new one before its first use. */
export const SIGNING_DELAY_SECONDS = 10
/** Seconds for which a replaced secret is still accepted. */
export const FORMER_SECRET_SECONDS = SECONDS_PER_DAY

const SECRET_BYTES = 32
const MIN_SECRET_CHARACTERS = 32

/** Why the command cannot replace a secret of the operator. */
export const CONFIGURED_SECRET_MESSAGE =
  'the secret is set by DOMAINDEX_SECRET: put a new one in front of it, separated by a comma, and restart every process'

/** Parses `NEW` or `NEW,FORMER`. Throws StoreFault. */
export function parseConfiguredSecrets(text: string): Secret[] {
  const secrets = text.split(',').map((secret) => secret.trim())
  if (secrets.length > 2)
    throw new StoreFault(
      'DOMAINDEX_SECRET contains more than two secrets: set the new one, a comma, and the former one',
    )
  for (const { length } of secrets) {
    if (length < MIN_SECRET_CHARACTERS)
      throw new StoreFault(
        `DOMAINDEX_SECRET contains a secret of ${length} characters: use at least ${MIN_SECRET_CHARACTERS}, for example from "openssl rand -hex 32"`,
      )
  }
  return secrets.map((secret) => withSecretNumber(Buffer.from(secret)))
}

export function generateSecret(): Secret {
  return withSecretNumber(randomBytes(SECRET_BYTES))
}

/** The number (32 bits) is derived from the secret, so every process and machine has the same one. */
function withSecretNumber(bytes: Buffer): Secret {
  const digest = createHash('sha256').update('domaindex: number of a secret\n').update(bytes).digest()
  return { number: digest.readUInt32BE(0), bytes }
}
