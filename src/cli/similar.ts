/** `domaindex similar`: prints the websites whose start page has a similar text. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { askSimilar } from './query/pages.ts'
import { defineQueryCommand } from './query/query-command.ts'

const SIMILAR_FIELDS = ['query', 'target', 'similarity']

export function defineSimilar(command: Command): void {
  const defined = defineQueryCommand(command, {
    argument: 'the domains',
    shape: {
      fields: SIMILAR_FIELDS,
      columns: SIMILAR_FIELDS,
      split: (row) => [{ ...row, similarity: Number(row.similarity).toFixed(4) }],
    },
    ask: askSimilar,
  })
  defined.addOption(
    new Option('--limit <rows>', 'print at most this number of rows, up to 100').argParser(parseSimilarLimit),
  )
}

function parseSimilarLimit(text: string): number {
  if (/^([1-9]\d?|100)$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1 to 100.')
}
