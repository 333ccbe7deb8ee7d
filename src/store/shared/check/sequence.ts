/** Runs the parts of the check one after another, each from where it stopped. */

import type { StoreMaintenance } from '../../port/store.ts'
import type { CheckSlice } from './slice.ts'

/** Checks the rows after a key. The result has the key where it stopped, null at the end of the part. */
export type CheckPart = (after: string | null) => CheckSlice | Promise<CheckSlice>

/** All parts by name, in order. A resume position starts with the name of its part. */
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
  const separator = resume.indexOf(' ')
  return separator < 0 ? [resume, null] : [resume.slice(0, separator), resume.slice(separator + 1)]
}
