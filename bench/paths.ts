/**
 * `npm run bench:paths`: 100,000 odd paths by default, none of which may be answered with 500, or not at all. `--inputs
 * N`, `--seed N`.
 */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openStore } from '../src/store/open.ts'
import { oddPath } from './fuzz/paths.ts'
import { askPaths } from './load/path-client.ts'
import { serve } from './load/server.ts'
import { end, temporary } from './measure/process.ts'
import { atMost, figure, report } from './measure/report.ts'
import { diceOf } from './world/random.ts'
import { storeIn } from './world/store.ts'

const BATCH = 1_000

const { values } = parseArgs({
  options: { inputs: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
})
const inputs = Number(values.inputs)
const seed = Number(values.seed)
const folder = temporary()
const store = storeIn(folder)
await (await openStore(`sqlite:${join(folder, 'facts.db')}`, { access: 'write', ledger: 'own', secret: null })).close()
const server = await serve(store)
const counts = new Map<number, number>()
try {
  for (let at = 0; at < inputs; at += BATCH) {
    const paths = Array.from({ length: Math.min(BATCH, inputs - at) }, (_, index) =>
      oddPath(diceOf(seed, at + index, 0)),
    )
    for (const { path, status } of await askPaths(server.origin, paths)) {
      counts.set(status, (counts.get(status) ?? 0) + 1)
      if (status === 0 || status >= 500) console.error(`${status}: ${path}`)
    }
  }
} finally {
  await end(server.started)
  rmSync(folder, { recursive: true })
}
const bad = [...counts].filter(([status]) => status === 0 || status >= 500)
const lines = [...counts]
  .toSorted(([one], [other]) => one - other)
  .map(([status, count]) => figure(`answered ${status}`, count, ''))
report(
  'paths',
  [
    ...lines,
    atMost(
      '500, or no answer',
      bad.reduce((sum, [, count]) => sum + count, 0),
      '',
      0,
    ),
  ],
  [`${inputs.toLocaleString('en')} paths, seed ${seed}, each on a connection of its own`],
  { inputs, seed },
)
