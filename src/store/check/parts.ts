/** The order of the check: part after part, each from where it stopped. */

import type { Archive } from '../store.ts'
import type { Slice } from './slice.ts'

/** Looks at the rows after a key, and says where it stopped (null at the end of the part). */
export type CheckPart = (after: string | null) => Slice | Promise<Slice>

/** Every part by its name, in the order it is done; the name begins the place to resume at. */
export function checkOf(parts: readonly (readonly [string, CheckPart])[]): Archive['check'] {
  return async (resume) => {
    const [name, after] = split(resume ?? parts[0]![0])
    const place = parts.findIndex(([part]) => part === name)
    const { faults, checked, last } = await parts[place]![1](after)
    const next = last !== null ? `${name} ${last}` : (parts[place + 1]?.[0] ?? null)
    return { faults, checked, next }
  }
}

function split(resume: string): [string, string | null] {
  const space = resume.indexOf(' ')
  return space < 0 ? [resume, null] : [resume.slice(0, space), resume.slice(space + 1)]
}
