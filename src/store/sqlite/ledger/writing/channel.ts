/** Questions and answers over a channel of messages, told apart by number. */

import type { LedgerCall, LedgerCallResult } from './calls.ts'

export type ChannelRequest = { number: number; calls: readonly LedgerCall[] }
export type ChannelReply = { number: number; replies: readonly LedgerCallResult[] }

export type RequestChannel = {
  request(calls: readonly LedgerCall[]): Promise<readonly LedgerCallResult[]>
  receive(answer: ChannelReply): void
  /** The channel is lost: what waits is rejected, and what comes later too. */
  fail(reason: string): void
  /** Resolves when nothing waits any more. */
  idle(): Promise<void>
}

/** `post` may throw: the question is rejected then. */
export function createRequestChannel(post: (question: ChannelRequest) => void): RequestChannel {
  const waiting = new Map<number, PromiseWithResolvers<readonly LedgerCallResult[]>>()
  let requestCount = 0
  let lost: Error | null = null
  return {
    async request(calls) {
      if (lost !== null) throw lost
      const number = ++requestCount
      post({ number, calls })
      const { promise } = waiting.set(number, Promise.withResolvers()).get(number)!
      return promise
    },
    receive({ number, replies }) {
      waiting.get(number)?.resolve(replies)
      waiting.delete(number)
    },
    fail(reason) {
      lost ??= new Error(reason)
      for (const { reject } of waiting.values()) reject(lost)
      waiting.clear()
    },
    async idle() {
      await Promise.allSettled([...waiting.values()].map(({ promise }) => promise))
    },
  }
}
