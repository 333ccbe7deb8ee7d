/** The keyring: the keys of cursors and download links, refreshed from the secrets of the installation. */

import type { Ledger } from '../../store/port/ledger.ts'
import type { Instant } from '../../values/time.ts'
import { type CursorKeys, cursorKeys, deriveKeys } from './cursor.ts'
import { LINK_KEY_PURPOSE, type LinkKeys } from './download-links.ts'

/** Milliseconds until a secret that another process created is known here. */
const REREAD_MS = 5_000

export type CursorKeyring = { readonly keys: CursorKeys; readonly linkKeys: LinkKeys; close(): void }

type CursorKeyringOptions = {
  ledger: Pick<Ledger, 'secrets'>
  now: () => Instant
  onFault: (fault: unknown) => void
}

export async function openCursorKeyring({ ledger, now, onFault }: CursorKeyringOptions): Promise<CursorKeyring> {
  const read = async () => {
    const secrets = await ledger.secrets(now())
    return { keys: cursorKeys(secrets), linkKeys: deriveKeys(secrets, LINK_KEY_PURPOSE) }
  }
  const keyring = { ...(await read()), close: () => clearInterval(timer) }
  const refresh = async (): Promise<void> => void Object.assign(keyring, await read())
  const timer = setInterval(() => void refresh().catch(onFault), REREAD_MS).unref()
  return keyring
}
