/**
 * `npm run bench:paths`: requests 100,000 unusual paths. None may get status 500 or no response.
 * Options: `--inputs N`, `--seed N`.
 */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openStore } from '../src/store/open.ts'
import { unusualPath } from './fuzz/paths.ts'
import { requestPaths } from './load/path-client.ts'
import { startDomaindex } from './load/server.ts'
import { makeTemporaryFolder, stopProcess } from './measure/process.ts'
import { metric, metricWithMax, report } from './measure/report.ts'
import { seededRandom } from './world/random.ts'
import { storeFilesIn } from './world/store.ts'

const BATCH = 1_000

const { values } = parseArgs({
  options: { inputs: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
})
const inputs = Number(values.inputs)
const seed = Number(values.seed)
const folder = makeTemporaryFolder()
const store = storeFilesIn(folder)
await (await openStore(`sqlite:${join(folder, 'facts.db')}`, { access: 'write', ledger: 'own', secret: null })).close()
const server = await startDomaindex(store)
const counts = new Map<number, number>()
try {
  for (let at = 0; at < inputs; at += BATCH) {
    const paths = Array.from({ length: Math.min(BATCH, inputs - at) }, (_, index) =>
      unusualPath(seededRandom(seed, at + index, 0)),
    )
    for (const { path, status } of await requestPaths(server.origin, paths)) {
      counts.set(status, (counts.get(status) ?? 0) + 1)
      if (status === 0 || status >= 500) console.error(`${status}: ${path}`)
    }
  }
} finally {
  await stopProcess(server.running)
  rmSync(folder, { recursive: true })
}
const failed = [...counts].filter(([status]) => status === 0 || status >= 500)
const metrics = [...counts]
  .toSorted(([one], [other]) => one - other)
  .map(([status, count]) => metric(`status ${status}`, count, ''))
report(
  'paths',
  [
    ...metrics,
    metricWithMax(
      'status 500, or no response',
      failed.reduce((sum, [, count]) => sum + count, 0),
      '',
      0,
    ),
  ],
  [`${inputs.toLocaleString('en')} paths, seed ${seed}, each on a connection of its own`],
  { inputs, seed },
)
