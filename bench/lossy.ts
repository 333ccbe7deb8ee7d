/**
 * `npm run bench:lossy`: how many answers are right where one packet in fifty is lost and one server in twenty is dead.
 */

import { parseArgs } from 'node:util'
import { inNamespace, permittedWay, WAYS, type Way } from './lossy/network.ts'
import type { Taken, Task } from './lossy/probes.ts'
import { DEAD_PERCENT } from './lossy/world.ts'
import { run } from './measure/process.ts'
import { atLeast, figure, type Line, report } from './measure/report.ts'

const AIM_PERCENT = 99.9
const MOST_NAMES = 5
const CRAWLER_CORE = 0
const SAID: Readonly<Record<Way, string>> = {
  netem: 'by netem on the loopback of a network namespace',
  netfilter: 'by netfilter (numgen) on the loopback of a network namespace, as this kernel has no netem',
  relay:
    'by relays of the bench, as no network namespace is permitted; TCP is not lost there but late, as its system sends again',
}

const { values } = parseArgs({
  options: {
    visits: { type: 'string', default: '20000' },
    parallel: { type: 'string', default: '256' },
    loss: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '15' },
    way: { type: 'string' },
  },
})
const given = WAYS.find((way) => way === values.way)
const { way, refusals } = given === undefined ? await permittedWay(Number(values.loss)) : { way: given, refusals: [] }
for (const refusal of refusals) console.error(`  refused: ${refusal}`)
const task: Task = {
  way,
  percent: Number(values.loss),
  seed: Number(values.seed),
  visits: Number(values.visits),
  parallel: Number(values.parallel),
  minutes: Number(values.minutes),
}
const child = new URL('./lossy/probes.ts', import.meta.url).pathname
const command = [process.execPath, child, JSON.stringify(task)]
const said = await run(way === 'relay' ? command : inNamespace(way, task.percent, command), { core: CRAWLER_CORE })
conclude(JSON.parse(said.slice(said.indexOf('{"visits"'))))

function conclude({ visits, wrong, dropped, seconds, cpuSeconds }: Taken): void {
  const all = Object.values(visits).reduce((sum, each) => sum + each, 0)
  const lines: Line[] = [
    atLeast('right answers', (100 * (all - wrong.length)) / all, '%', AIM_PERCENT),
    figure('visits', all, ''),
    ...Object.entries(visits).map(([kind, count]) => figure(`  of names of which ${kind}`, count, '')),
    figure('packets lost', dropped, ''),
    figure('wrong answers', wrong.length, ''),
    figure('  of a hundred thousand', (100_000 * wrong.length) / all, ''),
  ]
  for (const [what, names] of kindsOf(wrong))
    lines.push(figure(`  ${what} (${names.slice(0, MOST_NAMES).join(', ')})`, names.length, ''))
  lines.push(figure('took', seconds, 's'), figure('  processor time of the crawler', cpuSeconds, 's'))
  const notes = [
    `${task.percent} % of all packets are lost ${SAID[way]}; ${DEAD_PERCENT} % of the names have dead servers; seed ${task.seed}, ${task.parallel} in flight`,
    'right: the whole observation is what the row of the lab says, every record and every field',
  ]
  report('lossy', lines, notes, { task, visits, wrong, dropped })
}

/** By what was wrong and with which servers, the most frequent first. */
function kindsOf(wrong: Taken['wrong']): [string, string[]][] {
  const kinds = Object.groupBy(wrong, ({ kind, what }) =>
    kind === 'the servers live' ? what : `${what}, where ${kind}`,
  )
  return Object.entries(kinds)
    .map(([what, each = []]): [string, string[]] => [what, each.map(({ name }) => name)])
    .sort(([, a], [, b]) => b.length - a.length)
}
