/** A worker of a cluster that opens ledgers through its primary and runs the operations of the test. */

import cluster from 'node:cluster'
import { deserialize, serialize } from 'node:v8'
import { openSqliteLedger } from '../../../../src/store/sqlite/ledger/ledger.ts'

/** `values` and `outcome` are structured clones in Base64, so that any channel can carry them. */
export type Order = { call: number; method: string; values: string }
export type Report = { call: number; outcome: string }

type Operations = Record<string, (...values: unknown[]) => unknown>

let ledger: Operations = {}

const operations: Operations = {
  open(path, secret) {
    ledger = openSqliteLedger(path as string, {
      ledger: 'primary',
      secret: secret as string | null,
      now: () => 0,
    }) as never
  },
  /** A change of an actor: the actor, the method and its values. */
  change: (actor, method, ...values) => (ledger.as!(actor) as Operations)[method as string]!(...values),
  /** Leaves the cluster during a write, and prints on standard output how that write and a later one end. */
  async leave() {
    process.once('disconnect', async () => {
      const outcomes = await Promise.allSettled([underWay, ledger.refundUnit!(1, '2026-11-20')])
      process.stdout.write(
        JSON.stringify(outcomes.map((outcome) => `${'reason' in outcome ? outcome.reason.message : ''}`)),
      )
      process.exit()
    })
    const underWay = ledger.refundUnit!(1, '2026-11-20')
    cluster.worker!.disconnect()
  },
}

async function obey(method: string, values: unknown[]): Promise<object> {
  try {
    return { value: await (operations[method] ?? ledger[method])!(...values) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

process.on('message', async ({ call, method, values }: Partial<Order>) => {
  if (call === undefined) return // a message from the primary to the ledger
  const outcome = await obey(method!, deserialize(Buffer.from(values!, 'base64')))
  if (process.connected) process.send!({ call, outcome: serialize(outcome).toString('base64') } satisfies Report)
})
