/** /domain/NAME/lookalikes: the known names that can be taken for a domain, and why. */

import { lookalikesPath, profilePath } from '../../client/paths.ts'
import { EmptyState } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { Day } from '../../parts/time.tsx'
import { WatchLink } from '../watches/watch-link.tsx'
import { PagedCard } from './data/paged-rows.tsx'
import { usePages } from './data/pages.ts'
import type { LookalikeRow } from './data/responses.ts'

export function Lookalikes({ name }: { name: string }) {
  const pages = usePages<LookalikeRow>((next) => lookalikesPath(name, next))
  return (
    <PagedCard
      title={`Names that imitate ${name}`}
      about={
        <div class="subject-line card-about">
          <p class="hint">By their spelling. The score, up to 100, says how easily a name is taken for this one.</p>
          <WatchLink kind="lookalikes" value={name} />
        </div>
      }
      pages={pages}
      what="lookalikes"
      empty={<EmptyState title="No known name looks like it" />}
      name={`${name}-lookalikes`}
      call={{ path: lookalikesPath(name, null), parameters: null }}
    >
      {(rows) => <LookalikeRows name={name} rows={rows} />}
    </PagedCard>
  )
}

function LookalikeRows({ name, rows }: { name: string; rows: readonly LookalikeRow[] }) {
  return (
    <Table
      caption={`Names that imitate ${name}`}
      isDense
      stacks
      keyOf={(row) => row.name}
      rows={rows}
      columns={[
        { name: 'Domain', cell: (row) => <a href={profilePath(row.name)}>{row.name}</a> },
        { name: 'Score', cell: ({ score }) => score, isNumber: true },
        { name: 'Why', cell: ({ reasons }) => reasons.map((reason) => reason.replaceAll('_', ' ')).join(', ') },
        { name: 'First seen', cell: ({ first_seen }) => (first_seen === null ? 'not yet' : <Day at={first_seen} />) },
        { name: 'Has', cell: Uses },
        { name: 'Like this one', cell: InCommon },
      ]}
    />
  )
}

const USES = [
  ['resolves', 'addresses'],
  ['mail', 'mail'],
  ['website', 'a website'],
] as const

/** What the name has, and where it redirects to. */
function Uses(row: LookalikeRow) {
  const has = USES.filter(([key]) => row[key] === 'yes').map(([, text]) => text)
  const isUnknown = USES.every(([key]) => row[key] === null)
  return (
    <>
      {has.length > 0 ? has.join(', ') : <span class="hint">{isUnknown ? 'not observed' : 'nothing'}</span>}
      {row.redirects_to !== null && (
        <div>
          redirects to <a href={profilePath(row.redirects_to)}>{row.redirects_to}</a>
        </div>
      )}
    </>
  )
}

/** What the name and the brand have in common: then one owner is likely. */
function InCommon({ similarity, shares }: LookalikeRow) {
  const page = similarity === null ? [] : [`page ${(100 * similarity).toFixed(0)} %`]
  const all = [...shares, ...page]
  return all.length === 0 ? <span class="hint">nothing known</span> : all.join(', ')
}
