/** Questions and answers over a channel of messages, told apart by number. */

import type { Call, Reply } from './calls.ts'

export type Question = { number: number; calls: readonly Call[] }
export type Answer = { number: number; replies: readonly Reply[] }

export type Exchange = {
  ask(calls: readonly Call[]): Promise<readonly Reply[]>
  answer(answer: Answer): void
  /** The channel is lost: what waits is rejected, and what comes later too. */
  lose(reason: string): void
  /** Resolves when nothing waits any more. */
  idle(): Promise<void>
}

/** `post` may throw: the question is rejected then. */
export function exchange(post: (question: Question) => void): Exchange {
  const waiting = new Map<number, PromiseWithResolvers<readonly Reply[]>>()
  let asked = 0
  let lost: Error | null = null
  return {
    async ask(calls) {
      if (lost !== null) throw lost
      const number = ++asked
      post({ number, calls })
      const { promise } = waiting.set(number, Promise.withResolvers()).get(number)!
      return promise
    },
    answer({ number, replies }) {
      waiting.get(number)?.resolve(replies)
      waiting.delete(number)
    },
    lose(reason) {
      lost ??= new Error(reason)
      for (const { reject } of waiting.values()) reject(lost)
      waiting.clear()
    },
    async idle() {
      await Promise.allSettled([...waiting.values()].map(({ promise }) => promise))
    },
  }
}
