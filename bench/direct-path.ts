/**
 * `npm run bench:direct-path`: sends random connections to a server with the direct path and to one without, and
 * compares the received bytes. Options: `--scripts N`, `--seed N`. If they differ, the bench prints the script.
 */

import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { randomScript } from '../test/api/http/direct/scripts.ts'
import { startTwin } from '../test/api/http/direct/twin-servers.ts'
import { metric, metricWithMax, report } from './measure/report.ts'
import { seededRandom } from './world/random.ts'

const { values } = parseArgs({
  options: { scripts: { type: 'string', default: '400000' }, seed: { type: 'string', default: '1' } },
})
const scripts = Number(values.scripts)
const seed = Number(values.seed)
const [direct, plain] = await Promise.all([startTwin(true), startTwin(false)])
let differences = 0
for (let index = 0; index < scripts; index++) {
  const script = randomScript(seededRandom(seed, index, 0))
  const [actual, expected] = [await direct.run(script), await plain.run(script)]
  try {
    assert.deepEqual(actual, expected)
  } catch (error) {
    differences++
    console.error(`script ${index}:`, script.segments.map(String), (error as Error).message)
  }
}
report(
  'direct-path',
  [
    metric('connections', scripts, ''),
    metric('requests', plain.parsedByNode(), ''),
    metric('  answered on the direct path', plain.parsedByNode() - direct.parsedByNode(), ''),
    metricWithMax('connections with other bytes', differences, '', 0),
  ],
  [`seed ${seed}`],
  { scripts, seed },
)
await Promise.all([direct.close(), plain.close()])
