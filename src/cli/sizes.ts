/** `domaindex sizes`: measures the size of each table of the store. */

import type { Command } from 'commander'
import { measureTables } from '../store/table-sizes.ts'
import { formatInstant } from '../values/time.ts'
import { withExistingStore } from './program/existing-store.ts'
import { printResult } from './program/print-result.ts'

const SIZES_HELP = `
The operator's page shows the last measurement. The store may be in use. On SQLite the command reads
the whole file, about 200 MB per second; on PostgreSQL it takes moments.

Exit codes: 0 the tables were measured, 1 it failed, 2 wrong usage.`

export function defineSizes(command: Command): void {
  command
    .option('--json', 'print one JSON object: measured (a time) and tables, each with name and bytes')
    .addHelpText('after', SIZES_HELP)
    .action(({ json }: { json?: true }) => runSizes(json))
}

async function runSizes(json: boolean | undefined): Promise<void> {
  const { at, tables } = await withExistingStore('write', measureTables)
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0)
  const width = Math.max(...tables.map(({ name }) => name.length), 'total'.length)
  const line = (name: string, bytes: number): string =>
    `${name.padEnd(width)}  ${bytes.toLocaleString('en-US').padStart(20)} bytes`
  const lines = [...tables.map(({ name, bytes }) => line(name, bytes)), line('total', total)]
  printResult(json, { measured: `${formatInstant(at)}Z`, tables }, lines)
}
