/** The report of a bench: prints a table and writes the same as JSON to bench/out. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeLoad, isQuiet, watchMachine } from './machine-load.ts'

/** One row of the report. `target`: the target as text, empty if there is none. `isMet`: null if there is no target. */
export type Metric = { name: string; value: number; unit: string; target: string; isMet: boolean | null }

/** The content of the JSON file. `load`: how much other work ran. A value is null if that was too much for it. */
export type Report = {
  bench: string
  date: string
  machine: string
  isQuiet: boolean
  load: string
  notes: readonly string[]
  metrics: (Omit<Metric, 'value'> & { value: number | null })[]
  raw: unknown
}

const OUTPUT_FOLDER = process.env.BENCH_REPORTS ?? fileURLToPath(new URL('../out', import.meta.url))
/** The unit of a ratio of two figures of one run. */
const RATIO = '×'

/** From the start of the bench, when it imports this file. */
const loadSinceStart = watchMachine()

/** A metric without a target. */
export function metric(name: string, value: number, unit: string): Metric {
  return { name, value, unit, target: '', isMet: null }
}

/** A metric that should be at least `min`. */
export function metricWithMin(name: string, value: number, unit: string, min: number): Metric {
  return { name, value, unit, target: `≥ ${min.toLocaleString('en')}`, isMet: value >= min }
}

/** A metric that should be at most `max`. */
export function metricWithMax(name: string, value: number, unit: string, max: number): Metric {
  return { name, value, unit, target: `≤ ${max.toLocaleString('en')}`, isMet: value <= max }
}

/** Describes the machine in one line, without its name. */
export function machine(): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const [cpu] = cpus()
  return `${availableParallelism()} cores (${cpu?.model.trim()}), ${memory}, Linux ${release()}, Node ${process.versions.node}`
}

/**
 * Prints the table and writes bench/out/NAME.json, or NAME.json in the folder of BENCH_REPORTS. `notes`: how the bench
 * measured. `raw`: the figures of every round. If the machine was busy with other work, a ratio has no figure: null in JSON.
 */
export function report(name: string, metrics: readonly Metric[], notes: readonly string[], raw: unknown): void {
  const date = new Date().toISOString().slice(0, 10)
  console.log(`\nbench:${name}, ${date}, ${machine()}`)
  const machineLoad = loadSinceStart()
  const [quiet, load] = [isQuiet(machineLoad), describeLoad(machineLoad)]
  const allNotes = [...notes, `${load}${quiet ? '' : ': too much for a ratio, so none is given'}`]
  for (const note of allNotes) console.log(`  ${note}`)
  const shown = metrics.map((each) => (quiet || each.unit !== RATIO ? each : { ...each, ...NO_FIGURE }))
  const rows = shown.map(({ name, value, unit, target, isMet }) => [
    `  ${name}`,
    value === null ? '-' : formatNumber(value),
    unit,
    target,
    value === null ? 'machine too busy' : verdict(isMet),
  ])
  console.log(formatTable([['', 'figure', '', 'target', ''], ...rows], [1]))
  mkdirSync(OUTPUT_FOLDER, { recursive: true })
  const content: Report = {
    bench: name,
    date,
    machine: machine(),
    isQuiet: quiet,
    load,
    notes: allNotes,
    metrics: shown,
    raw,
  }
  writeFileSync(join(OUTPUT_FOLDER, `${name}.json`), `${JSON.stringify(content, null, 1)}\n`)
}

const NO_FIGURE = { value: null, isMet: null }

function verdict(isMet: boolean | null): string {
  if (isMet === null) return ''
  return isMet ? 'met' : 'MISSED'
}

/** Formats a number with three significant digits, or as a whole number from 100. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value) || value === 0) return String(value)
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toPrecision(3)
}

/** Formats rows as text with aligned columns. `right`: the columns that are aligned to the right. */
export function formatTable(rows: readonly (readonly string[])[], right: readonly number[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const pad = (cell: string, column: number): string =>
    right.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n')
}
