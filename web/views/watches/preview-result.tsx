/** What a watch would have matched in the last 30 days. */

import { KIND_PROPERTIES } from '../../../src/values/watch-kind.ts'
import { profilePath } from '../../client/paths.ts'
import { Table } from '../../parts/table.tsx'
import { countOf } from '../../parts/text/numbers.ts'
import { Ago } from '../../parts/time.tsx'
import { type NewWatch, type Preview, type PreviewRow, TYPE_TEXTS } from './watches.ts'

/** Rows that are shown; the number of all is in the heading. */
const MAX_SHOWN = 10

export function PreviewResult({ watch, preview: { meta, result } }: { watch: NewWatch; preview: Preview }) {
  const wanted = watch.types ?? KIND_PROPERTIES[watch.kind].types
  const unseen = wanted.filter((type) => !meta.types.includes(type))
  return (
    <section class="preview" aria-labelledby="preview-title">
      <h3 id="preview-title">
        In the last 30 days it would have matched {meta.complete ? '' : 'at least '}
        {countOf(result.length, 'change')}
      </h3>
      {result.length > 0 && <PreviewRows rows={result.slice(0, MAX_SHOWN)} />}
      {result.length > MAX_SHOWN && <p class="hint">And {result.length - MAX_SHOWN} more.</p>}
      {!meta.complete && <p class="hint">A preview reads a bounded part of the index, so there may be more.</p>}
      {unseen.length > 0 && (
        <p class="hint">
          Not looked for: {unseen.map((type) => TYPE_TEXTS[type]).join(', ')}. The watch matches them too.
        </p>
      )}
    </section>
  )
}

function PreviewRows({ rows }: { rows: readonly PreviewRow[] }) {
  return (
    <Table
      caption="What it would have matched"
      isDense
      keyOf={({ name, observed_at, type }) => `${name} ${observed_at} ${type}`}
      rows={rows}
      columns={[
        { name: 'Domain', cell: ({ name }) => (name === null ? 'in a log' : <a href={profilePath(name)}>{name}</a>) },
        { name: 'Change', cell: ({ type }) => TYPE_TEXTS[type] },
        { name: 'Observed', cell: ({ observed_at: at }) => (at === null ? 'not yet' : <Ago at={at} />) },
      ]}
    />
  )
}
