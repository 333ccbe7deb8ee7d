/** Reports rejected lines: the first few on standard error, and all of them in a file if one is named. */

import { closeSync, openSync, type Stats, statSync, writeFileSync } from 'node:fs'
import { CommandFault } from '../config/command-fault.ts'
import type { RejectedLine } from './batch.ts'
import { errorCause } from './stream/input-error.ts'

const MAX_REPORTED = 10

/** Opens and empties the file. Throws CommandFault if it cannot be written or is the imported file. */
export function openRejectsFile(path: string | null, source: Stats) {
  const fd = path === null ? null : openRejectsForWrite(path, source)
  let count = 0
  return {
    /** Writes one JSON object per line: line, reason, length, text. */
    write(rejects: readonly RejectedLine[]): void {
      for (const reject of rejects) {
        if (count++ < MAX_REPORTED) console.error(`line ${reject.line}: ${reject.reason}`)
        if (count === MAX_REPORTED + 1)
          console.error(`more lines are refused${fd === null ? '; --rejects FILE keeps them' : ''}`)
      }
      if (fd !== null && rejects.length > 0)
        writeFileSync(fd, rejects.map((reject) => `${JSON.stringify(reject)}\n`).join(''))
    },
    close(): void {
      if (fd !== null) closeSync(fd)
    },
  }
}

function openRejectsForWrite(path: string, source: Stats): number {
  const existing = statSync(path, { throwIfNoEntry: false })
  if (existing?.isFile() && existing.ino === source.ino && existing.dev === source.dev) {
    throw new CommandFault(`${path} is the file that is imported; name another for --rejects`)
  }
  try {
    return openSync(path, 'w')
  } catch (error) {
    throw new CommandFault(`${path} cannot be written for --rejects: ${errorCause(error)}`)
  }
}
