/** `domaindex jobs`: what the nights have done of late, what they do next, and which days are held back. */

import type { Command } from 'commander'
import { lookAround } from '../nightly/deeds.ts'
import { type Plan, planOf, type Step } from '../nightly/plan.ts'
import type { Manifest } from '../nightly/shelf.ts'
import type { Duty, Holder, Run } from '../store/jobs.ts'
import { formatInstant, type Instant } from '../words/time.ts'
import { settingsOfStore, withStore } from './store.ts'
import { worksOf } from './works.ts'

/** Runs that are shown. */
const RUNS = 20

type Held = Pick<Manifest, 'date' | 'rows' | 'ratio' | 'held'>
type Report = {
  now: Instant
  holders: readonly Holder[]
  held: readonly Held[]
  plan: Plan | null
  runs: readonly Run[]
}

export function define(command: Command): void {
  command
    .option('--json', 'print one JSON object: now, holders, held, next, runs (times in Unix seconds)')
    .addHelpText(
      'after',
      '\nTimes are UTC. A day that is held back goes out by domaindex build daily --date DAY --release.',
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const report = await reportOf()
      console.log(json ? jsonOf(report) : linesOf(report).join('\n'))
    })
}

async function reportOf(): Promise<Report> {
  const settings = await settingsOfStore()
  const { night: times, followupWait: cutoff } = settings
  return withStore('read', async (store) => {
    const known = await lookAround(worksOf(settings, store, () => {}))
    return {
      now: known.now,
      holders: await store.jobs.holders(),
      held: known.files.daily.filter(({ held }) => held !== null),
      plan: times === null ? null : planOf({ ...known, times, cutoff }),
      runs: known.runs.slice(-RUNS).toReversed(),
    }
  })
}

function jsonOf({ now, holders, held, plan, runs }: Report): string {
  const next = plan && { job: plan.step?.job ?? null, date: plan.step?.date ?? null, at: plan.again }
  const days = held.map(({ date, rows, ratio, held }) => ({ date, rows, ratio, held }))
  return JSON.stringify({ now, holders, held: days, next, runs })
}

function linesOf({ holders, held, plan, runs }: Report): string[] {
  const who = (sought: Duty): string | undefined => holders.find(({ duty }) => duty === sought)?.holder
  const atWork = holders.filter(({ duty }) => duty !== 'night' && duty !== 'index')
  return [
    `nights are run by: ${who('night') ?? 'nobody (domaindex serve runs them)'}`,
    `the index of /similar is kept by: ${who('index') ?? 'nobody (domaindex serve keeps it)'}`,
    ...atWork.map(({ duty, holder }) => `at work: ${duty}, ${holder}`),
    `next: ${plan === null ? 'nothing, DOMAINDEX_NIGHT is off' : nextOf(plan)}`,
    ...held.map(({ date, held }) => `held back: ${date}, ${held}`),
    ...(runs.length === 0 ? ['nothing has run yet'] : ['', ...tableOf(runs)]),
  ]
}

function nextOf({ step, again }: Plan): string {
  return step === null ? `nothing before ${timeOf(again)}` : `${nameOf(step)}, now`
}

const nameOf = ({ job, date }: Step): string => (date === null ? job : `${job} of ${date}`)
const timeOf = (instant: Instant): string => formatInstant(instant).replace('T', ' ')

function tableOf(runs: readonly Run[]): string[] {
  const rows = runs.map(({ job, date, began, ended, rows, error }) => [
    job,
    date ?? '',
    timeOf(began),
    ended === null ? 'under way' : `${ended - began} s`,
    rows === null ? '' : rows.toLocaleString('en-US'),
    error ?? '',
  ])
  const table = [['job', 'date', 'began', 'took', 'rows', 'error'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}
