/** The files that accounts have paid for, on PostgreSQL; they are written with the budgets that they were paid from. */

import { addDays, type Day } from '../../../words/time.ts'
import type { Database } from '../database.ts'
import type { Session } from '../writer.ts'
import type { Download } from './books.ts'

const KEYS = 'unnest($1::integer[], $2::text[], $3::text[]) as k (account, day, file)'
const PAID = {
  name: 'download.read',
  text: `select d.account, d.day, d.file from ${KEYS} join download d using (account, day, file)`,
}
const WRITE = {
  name: 'download.write',
  text: `insert into download (account, day, file) select account, day, file from ${KEYS} on conflict do nothing`,
}
const CLEAR = {
  name: 'download.clear',
  text: 'delete from download d using unnest($1::integer[], $2::text[]) as k (account, day) where d.account = k.account and d.day < k.day',
}

export function downloadReads({ read }: Pick<Database, 'read'>) {
  return {
    isPaid: async (account: number, day: Day, file: string): Promise<boolean> =>
      (await read(PAID, [[account], [day], [file]])).length > 0,
  }
}

/** Those of `wanted` that are paid for. */
export async function paidOf({ rows }: Session, wanted: readonly Download[]): Promise<Download[]> {
  return wanted.length === 0 ? [] : rows<Download>(PAID, columnsOf(wanted))
}

/** Marks files as paid for, and forgets those of days that are over for everybody. */
export async function writePaid({ run }: Session, bought: readonly Download[]): Promise<void> {
  if (bought.length === 0) return
  const [accounts, days] = [bought.map(({ account }) => account), bought.map(({ day }) => addDays(day, -1))]
  await Promise.all([run(CLEAR, [accounts, days]), run(WRITE, columnsOf(bought))])
}

function columnsOf(downloads: readonly Download[]): unknown[][] {
  return (['account', 'day', 'file'] as const).map((key) => downloads.map((download) => download[key]))
}
