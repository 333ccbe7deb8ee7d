/** The keyring: the keys of cursors, read anew from the installation's secrets while the process runs. */

import type { Ledger } from '../store/ledger.ts'
import type { Instant } from '../words/time.ts'
import { type CursorKeys, cursorKeys } from './cursor.ts'

/** Milliseconds after which a secret that another process made is known here. */
const REREAD = 5_000

export type Keyring = { readonly keys: CursorKeys; close(): void }

export type KeyringOptions = {
  ledger: Pick<Ledger, 'secrets'>
  now: () => Instant
  onFault: (fault: unknown) => void
}

export async function openKeyring({ ledger, now, onFault }: KeyringOptions): Promise<Keyring> {
  const read = async (): Promise<CursorKeys> => cursorKeys(await ledger.secrets(now()))
  const keyring = { keys: await read(), close: () => clearInterval(timer) }
  const reread = async (): Promise<void> => {
    keyring.keys = await read()
  }
  const timer = setInterval(() => void reread().catch(onFault), REREAD).unref()
  return keyring
}
