// Reads the vector files beside the repository for the tests.
import { existsSync, readFileSync } from 'node:fs'

const FOLDER = new URL('../../../shared/data/vectors/', import.meta.url)

/** Returns the parsed list of a file, or an empty list with the message that explains why the test is skipped. */
export function vectors<T>(path: string): { list: T[]; skip: string | false } {
  const file = new URL(path, FOLDER)
  if (!existsSync(file)) return { list: [], skip: `${path} is not beside the repository` }
  return { list: JSON.parse(readFileSync(file, 'utf8')), skip: false }
}
