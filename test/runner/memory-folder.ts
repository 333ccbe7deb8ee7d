/**
 * Loaded before every test file (`--import`): puts temporary folders into memory if there is enough of it. A test that
 * creates a store waits longer for the disk than it computes.
 */

import { statfsSync } from 'node:fs'

const FOLDER = '/dev/shm'
/** The bytes that must be free: many times the need of all tests that run at once. */
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
