// The vector files that lie beside the repository, for the tests that read them.
import { existsSync, readFileSync } from 'node:fs'

const FOLDER = new URL('../../../shared/data/vectors/', import.meta.url)

/** A file of vectors and whether to skip: the parsed list, or an empty one with the message that says why. */
export function vectors<T>(path: string): { list: T[]; skip: string | false } {
  const file = new URL(path, FOLDER)
  if (!existsSync(file)) return { list: [], skip: `${path} is not beside the repository` }
  return { list: JSON.parse(readFileSync(file, 'utf8')), skip: false }
}
