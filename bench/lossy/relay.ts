/**
 * Relays that drop traffic at random from a seed: datagrams are lost, and pieces of a stream are delayed until a
 * retransmission.
 */

import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { DnsServer } from '../../src/probe/dns/server.ts'
import type { PortMapping } from '../../src/probe/guard.ts'
import { isOpen } from '../crawl/servers.ts'
import { findFreePort } from '../measure/port.ts'
import type { RandomSource } from '../world/random.ts'

/** The time that TCP waits before it retransmits: for the first packet of a connection, and for any other. */
const FIRST_RETRANSMISSION_MILLISECONDS = 1000
const RETRANSMISSION_MILLISECONDS = 200
/** Large enough for a burst, so that only the relay drops datagrams. */
const SOCKET_OPTIONS = { type: 'udp4', recvBufferSize: 4 << 20 } as const

export type Relays = {
  relayServer(to: DnsServer): Promise<DnsServer>
  relayPort(to: PortMapping): Promise<PortMapping>
  /** The number of packets lost so far. */
  dropped(): number
  close(): void
}

/** `share`: the share of the packets that is lost, from 0 to 1. */
export function makeRelays(share: number, random: RandomSource): Relays {
  const closing: (() => void)[] = []
  let dropped = 0
  const isLost = (): boolean => {
    const lost = random() < share
    if (lost) dropped++
    return lost
  }

  const relayServer: Relays['relayServer'] = async (to) => {
    const frontSocket = createSocket(SOCKET_OPTIONS)
    const upstreamSockets = new Map<string, ReturnType<typeof createSocket>>()
    const upstreamSocketFor = (from: RemoteInfo) => {
      const key = `${from.address} ${from.port}`
      const upstreamSocket = upstreamSockets.get(key) ?? createSocket(SOCKET_OPTIONS)
      if (!upstreamSockets.has(key)) {
        upstreamSockets.set(key, upstreamSocket)
        upstreamSocket.on('message', (message) => isLost() || frontSocket.send(message, from.port, from.address))
      }
      return upstreamSocket
    }
    frontSocket.on('message', (message, from) => isLost() || upstreamSocketFor(from).send(message, to.port, to.address))
    const port = await findFreePort()
    await once(frontSocket.bind(port, to.address), 'listening')
    const tcp = await listen(to.address, to.port, port)
    closing.push(() => {
      for (const each of [frontSocket, ...upstreamSockets.values(), tcp]) each.close()
    })
    return { address: to.address, port }
  }

  const relayPort: Relays['relayPort'] = async (to) => {
    if (!(await isOpen(to))) return to
    const relay = await listen(to.address, to.port, 0)
    closing.push(() => relay.close())
    return { ...to, port: (relay.address() as AddressInfo).port }
  }

  const listen = async (address: string, to: number, at: number) => {
    const relay = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (client) => {
      const upstream = connect({ host: address, port: to, allowHalfOpen: true, noDelay: true })
      forward(client, upstream, isLost() || isLost() ? FIRST_RETRANSMISSION_MILLISECONDS : 0)
      forward(upstream, client, 0)
    })
    await once(relay.listen(at, address), 'listening')
    return relay
  }

  /** Forwards data, and delays a lost piece together with everything behind it. */
  const forward = (from: Socket, to: Socket, startDelay: number): void => {
    from.on('error', () => to.destroy())
    from.on('end', () => to.end())
    from.on('close', () => to.writableEnded || to.destroy())
    from.on('data', (piece) => {
      const delay = isLost() ? RETRANSMISSION_MILLISECONDS : 0
      if (to.write(piece) && delay === 0) return
      from.pause()
      setTimeout(() => from.resume(), delay)
    })
    from.pause()
    setTimeout(() => from.resume(), startDelay)
  }

  const close = () => {
    for (const each of closing) each()
  }
  return { relayServer, relayPort, dropped: () => dropped, close }
}
