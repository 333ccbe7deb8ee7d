/** The error of a server that cannot listen or whose worker cannot start, with advice. */

import { CommandFault } from '../config/command-fault.ts'
import type { ListenAddress } from '../config/parse.ts'

/** `settingNames`: the settings of its host and port, for the message. */
export function listenFault(
  { code, message }: { code?: string | null | undefined; message: string },
  { host, port }: ListenAddress,
  settingNames: { host: string; port: string },
): Error {
  const address = `${bracketedHost(host)}:${port}`
  if (code === 'EADDRINUSE') return new CommandFault(`${address} is in use: set another port with ${settingNames.port}`)
  if (code === 'EACCES')
    return new CommandFault(`this user may not listen on ${address}: set another port with ${settingNames.port}`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new CommandFault(`this machine has no address ${host}: set another one with ${settingNames.host}`)
  }
  if (!code) return new CommandFault(`a worker cannot start: ${message}`) // the log has its error
  return new CommandFault(`cannot listen on ${address}: ${message}`)
}

export function bracketedHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
