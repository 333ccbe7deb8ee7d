/** The control connections: whether the internet can be reached over a family of addresses. */

import { connect, type Socket } from 'node:net'
import { type Address, family } from '../words/address.ts'
import { waitFor } from './patience.ts'

type Place = { address: Address; port: number }

/** One connection a check, to another address each time; these more where it fails and the check before did not. */
const MORE = 2
const TIMEOUT_MILLISECONDS = 1500

export class Outlook {
  readonly #places: readonly Place[]
  readonly #open = new Set<Socket>()
  #turn = 0
  #reached = true

  /** The addresses of that family, of all that are given. */
  constructor(places: readonly Place[], which: 4 | 6) {
    this.#places = places.filter(({ address }) => family(address) === which)
  }

  /** Whether one of the addresses takes a TCP connection, within 4.5 s; null where there is none. Never rejects. */
  async reaches(): Promise<boolean | null> {
    const { length } = this.#places
    if (length === 0) return null
    let left = Math.min(this.#reached ? 1 + MORE : 1, length)
    this.#reached = false
    for (; left > 0 && !this.#reached; left--) {
      this.#reached = await this.#connects(this.#places[this.#turn++ % length]!)
    }
    return this.#reached
  }

  close(): void {
    for (const socket of this.#open) socket.destroy()
  }

  #connects({ address, port }: Place): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect({ host: address, port })
      this.#open.add(socket)
      const stop = waitFor(TIMEOUT_MILLISECONDS, () => socket.destroy())
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
