/** Samples of the processes of a soak: memory, open files, and the sizes of log and store. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** `role`: the main file of the process. */
type Sample = { role: string; bytes: number; files: number }

/** The growth of a figure: the mean of the last quarter of the samples, as a factor of that of the second quarter. */
export type Growth = { figure: string; second: number; last: number; factor: number }

const PAGE_BYTES = 4_096

export class Samples {
  readonly #series = new Map<string, number[]>()

  /** Samples a process and all that it has started. */
  addProcesses(root: number): void {
    const sums = new Map<string, number>()
    for (const { role, bytes, files } of processTree(root).flatMap(sampleOf)) {
      sums.set(`${role}, memory`, (sums.get(`${role}, memory`) ?? 0) + bytes)
      sums.set(`${role}, open files`, (sums.get(`${role}, open files`) ?? 0) + files)
    }
    for (const [figure, value] of sums) this.add(figure, value)
  }

  add(figure: string, value: number): void {
    this.#series.set(figure, [...(this.#series.get(figure) ?? []), value])
  }

  growth(): Growth[] {
    return [...this.#series].flatMap(([figure, values]) => {
      const quarter = Math.floor(values.length / 4)
      if (quarter < 2) return []
      const [second, last] = [mean(values.slice(quarter, 2 * quarter)), mean(values.slice(-quarter))]
      return { figure, second, last, factor: last / Math.max(second, 1) }
    })
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** The process IDs of a process and its descendants. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const parent = parentOf(Number(entry))
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), Number(entry)])
  }
  const all = [root]
  for (const each of all) all.push(...(children.get(each) ?? []))
  return all
}

function parentOf(process: number): number | null {
  try {
    const stat = readFileSync(`/proc/${process}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null // it has ended
  }
}

/** The main file of a process: such as `worker.ts`. */
export function roleOf(process: number): string | null {
  try {
    const words = readFileSync(`/proc/${process}/cmdline`, 'utf8').split('\0')
    return (
      words
        .find((word) => /\.(?:ts|js)$/.test(word))
        ?.split('/')
        .at(-1) ?? null
    )
  } catch {
    return null
  }
}

function sampleOf(process: number): Sample[] {
  const role = roleOf(process)
  if (role === null) return []
  try {
    const bytes = Number(readFileSync(`/proc/${process}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
    return [{ role, bytes, files: readdirSync(`/proc/${process}/fd`).length }]
  } catch {
    return []
  }
}

/** The bytes of a folder and all below. */
export function bytesOfFolder(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, { parentPath, name }) => sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}
