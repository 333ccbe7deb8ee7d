/** The order of the check: part after part, each from where it stopped. */

import type { StoreMaintenance } from '../../port/store.ts'
import type { CheckSlice } from './slice.ts'

/** Looks at the rows after a key, and says where it stopped (null at the end of the part). */
export type CheckPart = (after: string | null) => CheckSlice | Promise<CheckSlice>

/** Every part by its name, in the order it is done; the name begins the place to resume at. */
export function sequentialCheck(parts: readonly (readonly [string, CheckPart])[]): StoreMaintenance['check'] {
  return async (resume) => {
    const [name, after] = splitPosition(resume ?? parts[0]![0])
    const place = parts.findIndex(([part]) => part === name)
    const { faults, checked, last } = await parts[place]![1](after)
    const next = last !== null ? `${name} ${last}` : (parts[place + 1]?.[0] ?? null)
    return { faults, checked, next }
  }
}

function splitPosition(resume: string): [string, string | null] {
  const space = resume.indexOf(' ')
  return space < 0 ? [resume, null] : [resume.slice(0, space), resume.slice(space + 1)]
}
