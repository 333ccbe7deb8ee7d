/** The keyring: the keys of cursors, read anew from the installation's secrets while the process runs. */

import type { Ledger } from '../../store/port/ledger.ts'
import type { Instant } from '../../values/time.ts'
import { type CursorKeys, cursorKeys } from './cursor.ts'

/** Milliseconds after which a secret that another process made is known here. */
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
  const reread = async (): Promise<void> => {
    keyring.keys = await read()
  }
  const timer = setInterval(() => void reread().catch(onFault), REREAD_MS).unref()
  return keyring
}
