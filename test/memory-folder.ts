/**
 * Loaded before every test file (`--import`): temporary folders lie in memory where there is plenty, since a test that
 * makes a store waits for the disk longer than it computes.
 */

import { statfsSync } from 'node:fs'

const FOLDER = '/dev/shm'
/** Bytes that have to be free: many times what all tests that run at once take. */
const ENOUGH = 4 * 2 ** 30

function isRoomy(): boolean {
  try {
    const { bavail, bsize } = statfsSync(FOLDER)
    return bavail * bsize >= ENOUGH
  } catch {
    return false // there is none
  }
}

if (process.env.TMPDIR === undefined && isRoomy()) process.env.TMPDIR = FOLDER
