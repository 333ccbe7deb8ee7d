/** Which test files run in one process: loading the modules takes longer than most files compute. */

import { dirname } from 'node:path'

/** Files that run alone: they compute long, or they measure or change the process. */
const ALONE = [
  'api/http/files/downloads',
  'cli/full-disk',
  'cli/wrong-user',
  'fetch/ct/memory',
  'nodes/simulation',
  'probe/guard-tricks',
  'server/rolling-restart',
  'server/two-servers',
  'similar/query/idf-cache',
  'store/ledger/sqlite',
  'store/migrations/killed-migration',
  'store/postgres/citus/sharded',
  'store/postgres/postgres',
  'store/sqlite/sqlite',
  'web/browser',
].map((name) => `test/${name}.test.ts`)

/** Folders with groups of their own. The files of any other folder run with those of the folder above. */
const FOLDERS = [
  'accounts',
  'admin',
  'api',
  'app',
  'cli',
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

/** Groups files, paths from the root of the checkout. Those that compute longest come first. */
export function groupFiles(paths: readonly string[]): string[][] {
  const groups = Map.groupBy(paths, groupOf)
  return [...groups]
    .sort(([one], [other]) => Number(ALONE.includes(other)) - Number(ALONE.includes(one)))
    .map(([, files]) => files)
}
