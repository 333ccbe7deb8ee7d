/** Whether a server that somebody else named may be connected to: its addresses and its port. */

import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { makeGuard, parseAddressRange } from '../probe/guard.ts'
import { type IpAddress, parseAddress } from '../values/ip-address.ts'

/** Whether an address and a port may be connected to. */
export type MayConnect = (address: IpAddress, port: number) => boolean

/** Any address that the guard allows, to check a port. */
const PUBLIC_ADDRESS = parseAddress('1.1.1.1')!

/** A host has no address that may be connected to. */
export class RefusedAddress extends Error {
  override message = 'it has no public address'
}

/** The guard of the crawler: public addresses, on ports 80 and 443. */
export function publicOnly(): MayConnect {
  const guard = makeGuard()
  return (address, port) => guard.vet(address, port) !== null
}

/** Also private addresses, and any port, but none of what no setting of the guard allows, such as metadata services. */
export function alsoPrivate(): MayConnect {
  const guard = makeGuard({ allowed: ['0.0.0.0/0', '::/0'].map((text) => parseAddressRange(text)!) })
  return (address) => guard.vet(address, 443) !== null
}

/** Resolves a host to the addresses that may be connected to; the port is checked before. Fails with RefusedAddress. */
export function vettedLookup(mayConnect: MayConnect): LookupFunction {
  return (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const vetted = found.filter(({ address }) => isVetted(address, 443, mayConnect))
      const [first] = vetted
      if (first === undefined) callback(new RefusedAddress(), [])
      else if (options.all) callback(null, vetted)
      else callback(null, first.address, first.family)
    })
}

/** Whether the port of a URL, and its host if that is an address, may be connected to. */
export function isVettedTarget({ port: portText, protocol, hostname }: URL, mayConnect: MayConnect): boolean {
  const port = Number(portText || (protocol === 'https:' ? 443 : 80))
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(address) !== 0 ? isVetted(address, port, mayConnect) : mayConnect(PUBLIC_ADDRESS, port)
}

function isVetted(text: string, port: number, mayConnect: MayConnect): boolean {
  const address = parseAddress(text)
  return address !== null && mayConnect(address, port)
}
