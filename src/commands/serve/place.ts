/** Where a server listens, in words, and why it cannot. */

import type { Listener } from '../../config.ts'
import { CommandFault } from '../fault.ts'

/** Why nobody can listen there, in words that say what to do; `names` are the settings that say where. */
export function faultOf(
  { code, message }: { code?: string | null | undefined; message: string },
  { host, port }: Listener,
  names: { host: string; port: string },
): Error {
  const place = `${bracketed(host)}:${port}`
  if (code === 'EADDRINUSE') return new CommandFault(`${place} is in use: name another port with ${names.port}`)
  if (code === 'EACCES') return new CommandFault(`${place} is not for this user: name another port with ${names.port}`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new CommandFault(`this machine has no address ${host}: name another one with ${names.host}`)
  }
  return new CommandFault(`cannot serve on ${place}: ${message}`)
}

export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
