/** What a bench says at its end: a table to read, and the same as JSON in bench/out. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'

/** One line: what was measured, the figure, its unit, and what was aimed at (`''` for a figure without an aim). */
export type Line = { what: string; figure: number; unit: string; aim: string; met: boolean | null }

const OUT = new URL('../out/', import.meta.url)

/** A figure that has no aim of its own. */
export function figure(what: string, value: number, unit: string): Line {
  return { what, figure: value, unit, aim: '', met: null }
}

/** A figure that ought to be at least so much. */
export function atLeast(what: string, value: number, unit: string, aim: number): Line {
  return { what, figure: value, unit, aim: `≥ ${aim.toLocaleString('en')}`, met: value >= aim }
}

/** A figure that ought to be at most so much. */
export function atMost(what: string, value: number, unit: string, aim: number): Line {
  return { what, figure: value, unit, aim: `≤ ${aim.toLocaleString('en')}`, met: value <= aim }
}

/** The machine in one line, without its name. */
export function machine(): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const [cpu] = cpus()
  return `${availableParallelism()} cores (${cpu?.model.trim()}), ${memory}, Linux ${release()}, Node ${process.versions.node}`
}

/** Prints the table and writes bench/out/NAME.json; `notes` say how it was measured, `raw` holds every round. */
export function report(name: string, lines: readonly Line[], notes: readonly string[], raw: unknown): void {
  const date = new Date().toISOString().slice(0, 10)
  console.log(`\nbench:${name}, ${date}, ${machine()}`)
  for (const note of notes) console.log(`  ${note}`)
  const rows = lines.map(({ what, figure, unit, aim, met }) => [what, shown(figure), unit, aim, verdict(met)])
  print([['', 'figure', '', 'aim', ''], ...rows])
  mkdirSync(OUT, { recursive: true })
  const content = { bench: name, date, machine: machine(), notes, lines, raw }
  writeFileSync(new URL(`${name}.json`, OUT), `${JSON.stringify(content, null, 1)}\n`)
}

function verdict(met: boolean | null): string {
  if (met === null) return ''
  return met ? 'met' : 'MISSED'
}

/** Three digits where they say something, whole numbers above. */
export function shown(value: number): string {
  if (!Number.isFinite(value) || value === 0) return String(value)
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toPrecision(3)
}

function print(rows: readonly string[][]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  for (const row of rows) {
    const cells = row.map((cell, column) => (column === 1 ? cell.padStart(widths[1]!) : cell.padEnd(widths[column]!)))
    console.log(`  ${cells.join('  ').trimEnd()}`)
  }
}
