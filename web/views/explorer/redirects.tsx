/** /domain/NAME/redirects: the domains that redirect here, and where this one redirects to. */

import { useKept } from '../../client/loaded.ts'
import { profilePath, redirectsPath } from '../../client/paths.ts'
import { Card } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/notice.tsx'
import { countOf } from '../../parts/text/numbers.ts'
import { PagedRows } from './data/paged-rows.tsx'
import { usePages } from './data/pages.ts'
import type { DomainProfileBody } from './data/responses.ts'
import { endpointCall } from './data/snippets.ts'
import { RedirectTimes } from './past/redirect-times.tsx'

type RedirectRow = { target: string }

export function Redirects({ name }: { name: string }) {
  return (
    <div class="stack">
      <Outgoing name={name} />
      <Incoming name={name} />
      <RedirectTimes name={name} />
    </div>
  )
}

/** The target is part of the profile. It is shown if the profile is loaded, and never loaded for it alone. */
function Outgoing({ name }: { name: string }) {
  const profile = useKept<DomainProfileBody>(profilePath(name))
  return (
    <Card title="Redirects to">
      {profile === undefined ? (
        <p class="hint">
          The <a href={profilePath(name)}>overview</a> says where {name} redirects to (1 call).
        </p>
      ) : profile.redirects_to === null ? (
        <p>{name} does not redirect to another domain.</p>
      ) : (
        <p>
          <a class="name" href={profilePath(profile.redirects_to.target)}>
            {profile.redirects_to.target}
          </a>
        </p>
      )}
    </Card>
  )
}

function Incoming({ name }: { name: string }) {
  const pages = usePages<RedirectRow>((cursor) => redirectsPath(name, cursor))
  const { rows, next } = pages
  const count = rows === null ? undefined : `${countOf(rows.length, 'domain')}${next === null ? '' : ' so far'}`
  return (
    <Card title="Redirected here" aside={count}>
      <PagedRows
        pages={pages}
        what="redirects"
        empty={<EmptyState title="No domain redirects here">That is the answer of 1 call.</EmptyState>}
        name={`${name}-redirects`}
        call={endpointCall('redirect', { query: name })}
      >
        {(all) => <NameList names={all.map(({ target }) => target)} />}
      </PagedRows>
    </Card>
  )
}

/** Domains in as many columns as there is room for. */
export function NameList({ names }: { names: readonly string[] }) {
  return (
    <ul class="name-list">
      {names.map((each) => (
        <li key={each}>
          <a href={profilePath(each)}>{each}</a>
        </li>
      ))}
    </ul>
  )
}
