/**
 * Relays that lose what passes them, by seeded chance: datagrams for good, pieces of a stream until they are sent
 * again.
 */

import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Server } from '../../src/probe/dns/resolver.ts'
import type { PortMapping } from '../../src/probe/guard.ts'
import { isOpen } from '../crawl/servers.ts'
import type { Dice } from '../world/random.ts'

/** What TCP waits before it sends again what was lost: the first packet of a connection, and any other. */
const FIRST_MILLISECONDS = 1000
const LATER_MILLISECONDS = 200
/** Room for a burst, so that nothing is lost but by chance. */
const DATAGRAMS = { type: 'udp4', recvBufferSize: 4 << 20 } as const

export type Relays = {
  server(to: Server): Promise<Server>
  stand(to: PortMapping): Promise<PortMapping>
  /** Packets that were lost so far. */
  dropped(): number
  close(): void
}

/** `share` of what passes is lost, 0 to 1. */
export function makeRelays(share: number, dice: Dice): Relays {
  const closing: (() => void)[] = []
  let dropped = 0
  const isLost = (): boolean => {
    const lost = dice() < share
    if (lost) dropped++
    return lost
  }

  const server: Relays['server'] = async (to) => {
    const front = createSocket(DATAGRAMS)
    const backs = new Map<string, ReturnType<typeof createSocket>>()
    const backOf = (from: RemoteInfo) => {
      const key = `${from.address} ${from.port}`
      const back = backs.get(key) ?? createSocket(DATAGRAMS)
      if (!backs.has(key)) {
        backs.set(key, back)
        back.on('message', (message) => isLost() || front.send(message, from.port, from.address))
      }
      return back
    }
    front.on('message', (message, from) => isLost() || backOf(from).send(message, to.port, to.address))
    await once(front.bind(0, to.address), 'listening')
    const { port } = front.address()
    const tcp = await listen(to.address, to.port, port)
    closing.push(() => {
      for (const each of [front, ...backs.values(), tcp]) each.close()
    })
    return { address: to.address, port }
  }

  const stand: Relays['stand'] = async (to) => {
    if (!(await isOpen(to))) return to
    const relay = await listen(to.address, to.port, 0)
    closing.push(() => relay.close())
    return { ...to, port: (relay.address() as AddressInfo).port }
  }

  const listen = async (address: string, to: number, at: number) => {
    const relay = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (near) => {
      const far = connect({ host: address, port: to, allowHalfOpen: true, noDelay: true })
      join(near, far, isLost() || isLost() ? FIRST_MILLISECONDS : 0)
      join(far, near, 0)
    })
    await once(relay.listen(at, address), 'listening')
    return relay
  }

  /** Hands on what comes, late where it was lost; what came behind it waits as well. */
  const join = (from: Socket, to: Socket, wait: number): void => {
    from.on('error', () => to.destroy())
    from.on('end', () => to.end())
    from.on('close', () => to.writableEnded || to.destroy())
    from.on('data', (piece) => {
      const late = isLost() ? LATER_MILLISECONDS : 0
      if (to.write(piece) && late === 0) return
      from.pause()
      setTimeout(() => from.resume(), late)
    })
    from.pause()
    setTimeout(() => from.resume(), wait)
  }

  const close = () => {
    for (const each of closing) each()
  }
  return { server, stand, dropped: () => dropped, close }
}
