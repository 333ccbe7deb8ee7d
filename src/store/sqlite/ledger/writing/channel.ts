/** Requests and replies over a message channel, matched by number. */

import type { LedgerCall, LedgerCallResult } from './calls.ts'

export type ChannelRequest = { number: number; calls: readonly LedgerCall[] }
export type ChannelReply = { number: number; replies: readonly LedgerCallResult[] }

export type RequestChannel = {
  request(calls: readonly LedgerCall[]): Promise<readonly LedgerCallResult[]>
  receive(reply: ChannelReply): void
  /** The channel is lost: rejects pending and later requests. */
  fail(reason: string): void
  /** Resolves when no request is pending. */
  idle(): Promise<void>
}

/** `post` may throw: then the request is rejected. */
export function createRequestChannel(post: (request: ChannelRequest) => void): RequestChannel {
  const pending = new Map<number, PromiseWithResolvers<readonly LedgerCallResult[]>>()
  let requestCount = 0
  let failure: Error | null = null
  return {
    async request(calls) {
      if (failure !== null) throw failure
      const number = ++requestCount
      post({ number, calls })
      const { promise } = pending.set(number, Promise.withResolvers()).get(number)!
      return promise
    },
    receive({ number, replies }) {
      pending.get(number)?.resolve(replies)
      pending.delete(number)
    },
    fail(reason) {
      failure ??= new Error(reason)
      for (const { reject } of pending.values()) reject(failure)
      pending.clear()
    },
    async idle() {
      await Promise.allSettled([...pending.values()].map(({ promise }) => promise))
    },
  }
}
