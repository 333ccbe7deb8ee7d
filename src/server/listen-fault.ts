/** Where a server listens, in words, and why it cannot. */

import { CommandFault } from '../config/command-fault.ts'
import type { Listener } from '../config/settings.ts'

/** Why nobody can listen there, in words that say what to do; `names` are the settings that say where. */
export function listenFault(
  { code, message }: { code?: string | null | undefined; message: string },
  { host, port }: Listener,
  settingNames: { host: string; port: string },
): Error {
  const place = `${bracketedHost(host)}:${port}`
  if (code === 'EADDRINUSE') return new CommandFault(`${place} is in use: name another port with ${settingNames.port}`)
  if (code === 'EACCES')
    return new CommandFault(`${place} is not for this user: name another port with ${settingNames.port}`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new CommandFault(`this machine has no address ${host}: name another one with ${settingNames.host}`)
  }
  return new CommandFault(`cannot serve on ${place}: ${message}`)
}

export function bracketedHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
