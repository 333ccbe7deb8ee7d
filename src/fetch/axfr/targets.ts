/** What a zone transfer is asked for, and from whom: zones as users name them, and their name servers. */

import { resolveNs } from 'node:dns/promises'
import { isIP } from 'node:net'
import { InputError } from '../../import/stream/input-error.ts'
import { parseZoneName } from '../../registrations/zone/parse-zone.ts'
import { DNS_PORT, DNS_TLS_PORT, type TransferServer } from './connection.ts'
import type { TransferTarget } from './fetch-transfers.ts'
import { KNOWN_ZONES, ROOT_ZONE_MESSAGE } from './known-zones.ts'
import { parseTsigKey, type TsigKey } from './tsig.ts'

/** A zone as the user names it. `server`: null if the user names none. */
export type TransferArgument = { zone: string; server: { host: string; port: number | null } | null }

/** A host, perhaps with a port: `ns.example`, `192.0.2.53:5353`, `[2001:db8::53]:5353`. */
const SERVER_PATTERN = /^(?:\[([\da-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i

/** Parses `ZONE`, `ZONE@SERVER` or `ZONE@SERVER:PORT`. Throws InputError for anything else, and for the root. */
export function parseTransferArgument(text: string): TransferArgument {
  const at = text.indexOf('@')
  const zoneText = at < 0 ? text : text.slice(0, at)
  if (zoneText === '.') throw new InputError(ROOT_ZONE_MESSAGE)
  const zone = parseZoneName(zoneText.replace(/\.$/, ''))
  if (at < 0) return { zone, server: null }
  const [, bracketed, plain, port] = SERVER_PATTERN.exec(text.slice(at + 1)) ?? []
  const bare = isIP(text.slice(at + 1)) > 0 ? text.slice(at + 1) : null
  const host = bare ?? bracketed ?? plain
  if (host === undefined || Number(port ?? 1) > 65_535 || Number(port ?? 1) < 1)
    throw new InputError(`${text.slice(at + 1)} is no server: write HOST, HOST:PORT or [IPV6]:PORT`)
  return { zone, server: { host, port: port === undefined ? null : Number(port) } }
}

/** `key`: that of --tsig-file, null without one. A known zone has servers and perhaps a key of its own. */
export async function transferTargetOf(
  { zone, server }: TransferArgument,
  key: TsigKey | null,
  isTls: boolean,
): Promise<TransferTarget> {
  const known = Object.hasOwn(KNOWN_ZONES, zone) ? KNOWN_ZONES[zone]! : null
  const knownKey = known?.key && server === null ? parseTsigKey(known.key) : null
  const hosts = server === null ? (known?.servers ?? (await nameServersOf(zone))) : [server.host]
  const port = server?.port ?? (isTls ? DNS_TLS_PORT : DNS_PORT)
  const servers = hosts.map((host): TransferServer => ({ host, port, tls: isTls ? {} : null }))
  return { zone, servers, key: key ?? knownKey }
}

async function nameServersOf(zone: string): Promise<string[]> {
  return resolveNs(zone).catch(() => [])
}
