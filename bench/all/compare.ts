/** Compares the figures of a bench with those of the last committed run. Pure. */

/** One figure. `name` is unique in its run. `value`: null if the machine was too busy for it. */
export type Figure = { name: string; value: number | null; unit: string; target: string; isMet: boolean | null }

/**
 * One run of one bench. `isQuiet`: whether other work left the machine alone; `load` says how much of it there was.
 * `error`: why the bench failed.
 */
export type BenchRun = {
  date: string
  commit: string
  machine: string
  arguments: string
  seconds: number
  isQuiet: boolean
  load: string
  error: string | null
  figures: Figure[]
}

/** The runs by the name of the bench. */
export type BenchResults = Record<string, BenchRun>

export type Verdict = 'better' | 'worse' | 'same' | 'new' | 'none'

/** A figure beside the one of the last committed run. `change`: a share, null if it cannot be computed. */
export type ComparedFigure = Figure & {
  before: number | null
  change: number | null
  verdict: Verdict
  /** The runs that other work disturbed. */
  loaded: '' | 'now' | 'before' | 'both'
}

/** A figure of the same code varies by less than this share between two runs of a short size on a quiet machine. */
const TOLERANCE = 0.15
const RATE_UNIT = /\/s\b|per second/
const COST_UNIT = /^(µs|ms|s|MB|MiB|bytes)\b/

/**
 * The name of each metric within its run. An indented name belongs to the last name that is not indented, and a
 * repeated name gets a number.
 */
export function uniqueNames(names: readonly string[]): string[] {
  const counts = new Map<string, number>()
  let parent = ''
  return names.map((name) => {
    const isIndented = name.startsWith(' ')
    if (!isIndented) parent = name
    const whole = isIndented ? `${parent}: ${name.trim()}` : name
    const count = (counts.get(whole) ?? 0) + 1
    counts.set(whole, count)
    return count === 1 ? whole : `${whole} (${count})`
  })
}

/** Compares each figure of a run. Figures that only the earlier run has are left out. */
export function compareRuns(now: BenchRun, before: BenchRun | undefined): ComparedFigure[] {
  const earlier = new Map(before?.figures.map((figure) => [figure.name, figure]))
  const isComparable = before?.arguments === now.arguments
  return now.figures.map((figure) => {
    const old = isComparable ? (earlier.get(figure.name)?.value ?? null) : null
    const change = figure.value === null || old === null || old === 0 ? null : figure.value / old - 1
    return {
      ...figure,
      before: old,
      change,
      verdict: verdictOf(figure, old, change),
      loaded: loadedRuns(now.isQuiet, old === null || before!.isQuiet),
    }
  })
}

function verdictOf(figure: Figure, before: number | null, change: number | null): Verdict {
  if (figure.value === null) return 'none'
  if (before === null) return 'new'
  if (figure.value === before) return 'same'
  const gain = figure.value > before ? higherIsBetter(figure) : lowerIsBetter(figure)
  const loss = figure.value > before ? lowerIsBetter(figure) : higherIsBetter(figure)
  if (change !== null && Math.abs(change) <= TOLERANCE) return 'same'
  if (gain) return 'better'
  return loss ? 'worse' : 'none'
}

function higherIsBetter({ target, unit }: Figure): boolean {
  return target === '' ? RATE_UNIT.test(unit) : target.startsWith('≥')
}

function lowerIsBetter({ target, unit }: Figure): boolean {
  return target === '' ? COST_UNIT.test(unit) && !RATE_UNIT.test(unit) : target.startsWith('≤')
}

function loadedRuns(isQuietNow: boolean, wasQuiet: boolean): ComparedFigure['loaded'] {
  if (isQuietNow) return wasQuiet ? '' : 'before'
  return wasQuiet ? 'now' : 'both'
}
