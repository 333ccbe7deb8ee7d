/** The keyring: the keys of cursors, refreshed from the secrets of the installation. */

import type { Ledger } from '../../store/port/ledger.ts'
import type { Instant } from '../../values/time.ts'
import { type CursorKeys, cursorKeys } from './cursor.ts'

/** Milliseconds until a secret that another process created is known here. */
const REREAD_MS = 5_000

export type CursorKeyring = { readonly keys: CursorKeys; close(): void }

export type CursorKeyringOptions = {
  ledger: Pick<Ledger, 'secrets'>
  now: () => Instant
  onFault: (fault: unknown) => void
}

export async function openCursorKeyring({ ledger, now, onFault }: CursorKeyringOptions): Promise<CursorKeyring> {
  const read = async (): Promise<CursorKeys> => cursorKeys(await ledger.secrets(now()))
  const keyring = { keys: await read(), close: () => clearInterval(timer) }
  const refresh = async (): Promise<void> => {
    keyring.keys = await read()
  }
  const timer = setInterval(() => void refresh().catch(onFault), REREAD_MS).unref()
  return keyring
}
