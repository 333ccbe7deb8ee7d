/** Tests a worker pool whose workers the system cannot start. */

import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { test } from 'node:test'
import { pino } from 'pino'
import { WorkerPool } from '../../../src/server/processes/worker-pool.ts'

test('if the system cannot start the workers, the start fails, and they end with it', async () => {
  const crew = new WorkerPool(pino({ level: 'silent' }), { stop: async () => {} } as never)
  cluster.setupPrimary({ cwd: '/no/such/folder' })
  await assert.rejects(crew.start({} as never, 2), /it ended or timed out before it was ready/)
  await crew.stop()
  assert.equal(crew.size, 0)
})
