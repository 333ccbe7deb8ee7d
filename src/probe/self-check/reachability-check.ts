/** The control connections: whether the internet is reachable over an address family. */

import { connect, type Socket } from 'node:net'
import { addressFamily, type IpAddress } from '../../values/ip-address.ts'
import { setStallTolerantTimeout } from '../stall-timer.ts'

type ControlEndpoint = { address: IpAddress; port: number }

/**
 * Each check makes one connection, each to another address. If it fails and the previous check passed, up to this many
 * follow.
 */
const EXTRA_ATTEMPTS = 2
const CONTROL_CONNECT_TIMEOUT_MS = 1500

/** The control connections: whether the internet is reachable over an address family. */
export class ReachabilityCheck {
  readonly #endpoints: readonly ControlEndpoint[]
  readonly #open = new Set<Socket>()
  #nextIndex = 0
  #reached = true

  /** Uses only the endpoints of this family. */
  constructor(endpoints: readonly ControlEndpoint[], family: 4 | 6) {
    this.#endpoints = endpoints.filter(({ address }) => addressFamily(address) === family)
  }

  /**
   * Whether one of the addresses accepts a TCP connection within 4.5 s. Returns null if there is no address. Never
   * rejects.
   */
  async isReachable(): Promise<boolean | null> {
    const { length } = this.#endpoints
    if (length === 0) return null
    let attemptsLeft = Math.min(this.#reached ? 1 + EXTRA_ATTEMPTS : 1, length)
    this.#reached = false
    for (; attemptsLeft > 0 && !this.#reached; attemptsLeft--) {
      this.#reached = await this.#connects(this.#endpoints[this.#nextIndex++ % length]!)
    }
    return this.#reached
  }

  close(): void {
    for (const socket of this.#open) socket.destroy()
  }

  #connects({ address, port }: ControlEndpoint): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect({ host: address, port })
      this.#open.add(socket)
      const stop = setStallTolerantTimeout(CONTROL_CONNECT_TIMEOUT_MS, () => socket.destroy())
      socket.on('error', () => {})
      socket.once('connect', () => {
        resolve(true)
        socket.destroy()
      })
      socket.once('close', () => {
        stop()
        this.#open.delete(socket)
        resolve(false)
      })
    })
  }
}
