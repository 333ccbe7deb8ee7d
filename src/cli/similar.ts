/** `domaindex similar`: prints the websites whose start page has a similar text. */

import { type Command, Option } from 'commander'
import { askSimilar } from './query/pages.ts'
import { defineQueryCommand, parseRowLimit } from './query/query-command.ts'

const SIMILAR_FIELDS = ['query', 'target', 'similarity']

export function defineSimilar(command: Command): void {
  const defined = defineQueryCommand(command, {
    argument: 'the domains',
    shape: {
      fields: SIMILAR_FIELDS,
      columns: SIMILAR_FIELDS,
      toLines: (row) => [{ ...row, similarity: Number(row.similarity).toFixed(4) }],
    },
    ask: askSimilar,
  })
  defined.addOption(
    new Option('--limit <rows>', 'print at most this number of rows, up to 100').argParser(parseRowLimit),
  )
}
