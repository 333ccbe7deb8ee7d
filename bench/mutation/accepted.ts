/** The accepted survivors: changes that no test notices, each with the reason, from bench/mutation/survivors.md. */

import { readFileSync } from 'node:fs'
import type { Mutant } from './mutants.ts'

/** `line`: the line of code that is changed. */
export type AcceptedSurvivor = { path: string; change: string; line: string; reason: string }

const LIST = new URL('./survivors.md', import.meta.url)
/** Between the change and the line of code. */
const SEPARATOR = ' ▸ '

/** A survivor as the list writes it. */
export function formatSurvivor({ what, code }: Mutant): string {
  return `${what}${SEPARATOR}${code}`
}

/** Reads the list: a heading names the file, a paragraph is the reason of the indented lines below it. */
export function acceptedSurvivors(): AcceptedSurvivor[] {
  const [, ...sections] = readFileSync(LIST, 'utf8').split(/^## /m)
  return sections.flatMap((section) => {
    const [path = '', ...lines] = section.split('\n')
    let reason = ''
    const accepted: AcceptedSurvivor[] = []
    for (const line of lines)
      if (line.startsWith('    ')) {
        const [change = '', code = ''] = line.trim().split(SEPARATOR)
        accepted.push({ path, change, line: code, reason })
      } else if (line !== '') reason = accepted.at(-1)?.reason === reason ? line : `${reason} ${line}`.trim()
    return accepted
  })
}
