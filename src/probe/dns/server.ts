/** DNS servers: those of the system or those in a setting. */

import { getServers } from 'node:dns'
import { type IpAddress, parseAddress } from '../../values/ip-address.ts'

/** The address and port of a resolver. */
export type DnsServer = { address: IpAddress; port: number }

const DNS_PORT = 53

/** The resolvers of this system, without those whose address has a zone ID. */
export function systemDnsServers(): DnsServer[] {
  return getServers()
    .map(parseDnsServer)
    .filter((server) => server !== null)
}

/** Parses `ADDRESS`, `ADDRESS:PORT` or `[ADDRESS]:PORT`. The default port is 53. Returns null for any other text. */
export function parseDnsServer(text: string): DnsServer | null {
  const alone = parseAddress(text)
  if (alone !== null) return { address: alone, port: DNS_PORT }
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::([1-9][0-9]{0,4}))?$/.exec(text) ?? []
  const address = parseAddress(bracketed ?? plain ?? '')
  const port = digits === undefined ? DNS_PORT : Number(digits)
  return address === null || port > 65_535 ? null : { address, port }
}

/** Formats a server for messages. */
export function formatDnsServer({ address, port }: DnsServer): string {
  return port === DNS_PORT ? address : `${address} port ${port}`
}
