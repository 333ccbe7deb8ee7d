/** Which test files run in one process: loading the modules takes longer than most files compute. */

import { dirname } from 'node:path'

/** Files that run alone: they compute long, or they measure or change the process. */
export const ALONE = [
  'api/http/files/downloads',
  'cli/full-disk',
  'cli/wrong-user',
  'fetch/ct/memory',
  'nodes/simulation',
  'probe/guard-tricks',
  'server/rolling-restart',
  'server/serve',
  'server/two-servers',
  'similar/query/idf-cache',
  'simulation/simulation',
  'store/ledger/sqlite',
  'store/migrations/added-column',
  'store/migrations/killed-migration',
  'store/postgres/citus/sharded',
  'store/postgres/postgres',
  'store/sqlite/sqlite',
  'web/browser',
].map((name) => `test/${name}.test.ts`)

/** Folders with groups of their own. The files of any other folder run with those of the folder above. */
export const FOLDERS = [
  'accounts',
  'admin',
  'api',
  'app',
  'cli',
  'cli/import',
  'cli/query',
  'client',
  'crawler',
  'deploy',
  'docs',
  'export',
  'fetch',
  'import',
  'jobs',
  'lab',
  'observe',
  'probe',
  'registrations',
  'security',
  'server',
  'server/places',
  'similar',
  'spec',
  'store',
  'store/migrations',
  'store/postgres',
].map((name) => `test/${name}`)

/** The name of the group that a file runs in. */
function groupOf(path: string): string {
  if (ALONE.includes(path)) return path
  let folder = dirname(path)
  while (folder !== 'test' && !FOLDERS.includes(folder)) folder = dirname(folder)
  return folder
}

/** Folders whose groups take longest. They start first, so that no core is idle at the end. */
const LONGEST = ['server', 'cli', 'store/postgres', 'store/migrations', 'cli/query', 'api', 'spec'].map(
  (name) => `test/${name}`,
)

/** The place of a group in the order of starts. */
function orderOf(group: string): number {
  if (LONGEST.includes(group)) return LONGEST.indexOf(group)
  return LONGEST.length + (ALONE.includes(group) ? 0 : 1)
}

/** Groups files, paths from the root of the checkout. The groups that take longest come first. */
export function groupFiles(paths: readonly string[]): string[][] {
  const groups = Map.groupBy(paths, groupOf)
  return [...groups].sort(([one], [other]) => orderOf(one) - orderOf(other)).map(([, files]) => files)
}
