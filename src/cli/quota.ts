/** `domaindex quota`: prints the calls that are left today. */

import type { Command } from 'commander'
import { EXIT_CODES_HELP } from './program/client-fault.ts'
import { addOutputOptions, addServerOptions, type QueryOptions, withAnswerSource } from './query/query-command.ts'
import { openRowWriter } from './query/row-writer.ts'

const QUOTA_FIELDS = ['limit', 'used', 'remaining', 'reset']

export function defineQuota(command: Command): void {
  addServerOptions(addOutputOptions(command))
    .addHelpText('after', `\nIt costs no call. The local store has no limit.\n\n${EXIT_CODES_HELP}`)
    .action(async (options: QueryOptions) => {
      const writer = openRowWriter({ fields: QUOTA_FIELDS, columns: QUOTA_FIELDS }, options, true)
      await withAnswerSource(options, writer, async ({ client }, signal) =>
        writer.write([await client.quota({ signal })]),
      )
    })
}
