/**
 * `npm run bench:lossy`: measures how many observations are right if one packet in fifty is lost and one server in
 * twenty is dead.
 */

import { parseArgs } from 'node:util'
import { findPermittedMethod, LOSS_METHODS, type LossMethod, namespaceCommand } from './lossy/network.ts'
import type { LossyResult, LossyTask } from './lossy/probes.ts'
import { DEAD_PERCENT } from './lossy/world.ts'
import { runProcess } from './measure/process.ts'
import { type Metric, metric, metricWithMin, report } from './measure/report.ts'

const TARGET_PERCENT = 99.9
const MAX_NAMES_SHOWN = 5
const CRAWLER_CORE = 0
const LOSS_DESCRIPTIONS: Readonly<Record<LossMethod, string>> = {
  netem: 'by netem on the loopback of a network namespace',
  netfilter: 'by netfilter (numgen) on the loopback of a network namespace, because this kernel has no netem',
  relay:
    'by relays of the bench, because no network namespace is permitted; they delay TCP as a retransmission would, instead of losing it',
}

const { values } = parseArgs({
  options: {
    probes: { type: 'string', default: '20000' },
    parallel: { type: 'string', default: '256' },
    loss: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '15' },
    method: { type: 'string' },
  },
})
const givenMethod = LOSS_METHODS.find((method) => method === values.method)
const { method, failures } =
  givenMethod === undefined ? await findPermittedMethod(Number(values.loss)) : { method: givenMethod, failures: [] }
for (const failure of failures) console.error(`  not permitted: ${failure}`)
const task: LossyTask = {
  method,
  percent: Number(values.loss),
  seed: Number(values.seed),
  probes: Number(values.probes),
  parallel: Number(values.parallel),
  minutes: Number(values.minutes),
}
const child = new URL('./lossy/probes.ts', import.meta.url).pathname
const command = [process.execPath, child, JSON.stringify(task)]
const output = await runProcess(method === 'relay' ? command : namespaceCommand(method, task.percent, command), {
  core: CRAWLER_CORE,
})
reportResult(JSON.parse(output.slice(output.indexOf('{"probes"'))))

function reportResult({ probes, wrong, dropped, seconds, cpuSeconds }: LossyResult): void {
  const all = Object.values(probes).reduce((sum, each) => sum + each, 0)
  const metrics: Metric[] = [
    metricWithMin('right results', (100 * (all - wrong.length)) / all, '%', TARGET_PERCENT),
    metric('probes', all, ''),
    ...Object.entries(probes).map(([kind, count]) => metric(`  ${kind}`, count, '')),
    metric('packets lost', dropped, ''),
    metric('wrong results', wrong.length, ''),
    metric('  per hundred thousand', (100_000 * wrong.length) / all, ''),
  ]
  for (const [difference, names] of groupWrong(wrong))
    metrics.push(metric(`  ${difference} (${names.slice(0, MAX_NAMES_SHOWN).join(', ')})`, names.length, ''))
  metrics.push(metric('duration', seconds, 's'), metric('  processor time of the crawler', cpuSeconds, 's'))
  const notes = [
    `${task.percent} % of all packets are lost ${LOSS_DESCRIPTIONS[method]}; ${DEAD_PERCENT} % of the names have dead servers; seed ${task.seed}, ${task.parallel} in flight`,
    'right: every record and every field of the observation is as the row of the lab says',
  ]
  report('lossy', metrics, notes, { task, probes, wrong, dropped })
}

/** Groups the wrong observations by the difference and the state of the servers, the most frequent first. */
function groupWrong(wrong: LossyResult['wrong']): [string, string[]][] {
  const kinds = Object.groupBy(wrong, ({ serverState, differences }) =>
    serverState === 'the servers work' ? differences : `${differences}, if ${serverState}`,
  )
  return Object.entries(kinds)
    .map(([difference, each = []]): [string, string[]] => [difference, each.map(({ name }) => name)])
    .sort(([, a], [, b]) => b.length - a.length)
}
