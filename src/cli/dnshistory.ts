/** `domaindex dnshistory`: prints how the DNS records of domains changed. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { type AnyRecord, RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import { formatPresentation } from '../values/records/presentation.ts'
import { askHistory } from './query/pages.ts'
import { addPageOptions, defineQueryCommand } from './query/query-command.ts'
import type { Row } from './query/row-lines.ts'

export function defineDnshistory(command: Command): void {
  const defined = defineQueryCommand(command, {
    argument: 'the domains',
    shape: {
      fields: ['query', 'type', 'first_seen', 'records'],
      columns: ['query', 'type', 'first_seen', 'record'],
      split: recordLines,
    },
    ask: (client, options) => askHistory(client, options),
  })
  defined.addOption(
    new Option('--type <type>', 'states of this record type only').choices(RECORD_TYPES).argParser(parseType),
  )
  addPageOptions(defined, 'states of each type')
}

function parseType(text: string): RecordType {
  const type = RECORD_TYPES.find((each) => each === text.toUpperCase())
  if (type === undefined) throw new InvalidArgumentError(`It must be one of ${RECORD_TYPES.join(', ')}.`)
  return type
}

/** A line for each record of a state in presentation form. A state without records has a line without a record. */
function recordLines(row: Row): Row[] {
  const records = row.records as AnyRecord[]
  if (records.length === 0) return [{ ...row, record: '' }]
  return records.map((record) => ({ ...row, record: formatPresentation(row.type as RecordType, record) }))
}
