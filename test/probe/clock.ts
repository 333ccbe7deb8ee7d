/** Sets the clock of another process: changes the time that the C library reports to OpenSSL. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SOURCE = `#include <stdlib.h>
#include <time.h>
time_t time(time_t *out) {
  time_t now = atoll(getenv("TIME_IS"));
  if (out) *out = now;
  return now;
}
`

/**
 * Returns environments in which a program takes a time (seconds since 1970) for now. Returns null without a C compiler
 * or LD_PRELOAD.
 */
export function makeClock(folder: string): ((at: number) => NodeJS.ProcessEnv) | null {
  const [source, library] = [join(folder, 'clock.c'), join(folder, 'clock.so')]
  writeFileSync(source, SOURCE)
  const made = process.platform === 'linux' ? spawnSync('cc', ['-shared', '-fPIC', '-o', library, source]) : null
  return made?.status === 0 ? (at) => ({ ...process.env, LD_PRELOAD: library, TIME_IS: String(at) }) : null
}
