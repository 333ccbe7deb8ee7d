/** Ledgers in workers of a cluster, controlled from its primary by messages. */

import cluster, { type Worker } from 'node:cluster'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { Actor } from '../../../../src/accounts/audit.ts'
import type { LedgerChanges } from '../../../../src/store/port/ledger.ts'
import type { LedgerAndCrawlRequests } from '../engine.ts'
import type { Order, Report } from './worker.ts'

cluster.setupPrimary({ exec: join(import.meta.dirname, './worker.ts'), silent: true })

export type Driven = { worker: Worker; ask(method: string, ...values: unknown[]): Promise<unknown> }

const idle: Driven[] = []

export function forkDriven(): Driven {
  const worker = cluster.fork()
  worker.process.stderr!.pipe(process.stderr)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  worker.on('message', ({ call, outcome }: Partial<Report>) => {
    if (call === undefined) return // a request of the ledger to the primary
    const { value, error } = deserialize(Buffer.from(outcome!, 'base64'))
    if (error === undefined) waiting.get(call)!.resolve(value)
    else waiting.get(call)!.reject(new Error(error))
  })
  return {
    worker,
    ask(method, ...values) {
      const call = waiting.size + 1
      waiting.set(call, Promise.withResolvers())
      worker.send({ call, method, values: serialize(values).toString('base64') } satisfies Order)
      return waiting.get(call)!.promise
    },
  }
}

/** The ledger at `path` in a worker. `close` frees the worker for the next one. */
export async function workerLedger(
  path: string,
  secret: string | null,
): Promise<LedgerAndCrawlRequests & { close(): Promise<void> }> {
  const driven = idle.pop() ?? forkDriven()
  await driven.ask('open', path, secret)
  const close = async (): Promise<void> => {
    await driven.ask('close')
    idle.push(driven)
  }
  return new Proxy({} as LedgerAndCrawlRequests & { close(): Promise<void> }, {
    get(_, method: string) {
      if (method === 'then') return undefined // it is not a promise
      if (method === 'close') return close
      if (method === 'as') return (actor: Actor) => changesThrough(driven, actor)
      return (...values: unknown[]) => driven.ask(method, ...values)
    },
  })
}

function changesThrough(driven: Driven, actor: Actor): LedgerChanges {
  return new Proxy({} as LedgerChanges, {
    get:
      (_, method: string) =>
      (...values: unknown[]) =>
        driven.ask('change', actor, method, ...values),
  })
}

/** Ends the workers that wait for a ledger. */
export function endWorkers(): void {
  for (const { worker } of idle.splice(0)) worker.process.kill()
}
