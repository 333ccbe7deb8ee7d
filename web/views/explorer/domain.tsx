/** The views of one domain: its heading, the tabs with the cost of each, and the view of the address. */

import { useEffect } from 'preact/hooks'
import { toUnicode } from 'punycode/punycode.es6.js'
import { DOMAIN_VIEWS, type DomainView } from '../../client/domain-views.ts'
import { useIsLoaded } from '../../client/loaded.ts'
import { DOMAIN_CALLS, profilePath } from '../../client/paths.ts'
import { pageAddress } from '../../client/router.ts'
import { useSignal } from '../../client/signal.ts'
import { WatchLink } from '../watches/watch-link.tsx'
import { Neighbours } from './address.tsx'
import { History } from './history/history.tsx'
import { Lookalikes } from './lookalikes.tsx'
import { Overview } from './overview.tsx'
import { Certificates } from './past/certificates.tsx'
import { DomainAsOf } from './past/domain-as-of.tsx'
import { Uses } from './past/uses.tsx'
import { WebHistory } from './past/web-history.tsx'
import { Redirects } from './redirects.tsx'
import { addRecentQuery } from './search/recent.ts'
import { Similar } from './similar.tsx'

/** `view`: the last segment of the address; empty for the overview. */
export function DomainPage({ name, view }: { name: string; view: string }) {
  useEffect(() => addRecentQuery({ kind: 'domain', value: name }), [name])
  return (
    <>
      <header class="subject">
        <div class="subject-line">
          <h1 class="subject-name">{name}</h1>
          <WatchLink kind="name" value={name} />
        </div>
        <UnicodeName name={name} />
        <nav class="tabs" aria-label={`Views of ${name}`}>
          {DOMAIN_VIEWS.map((tab) => (
            <Tab key={tab.view} name={name} tab={tab} isCurrent={tab.view === view} />
          ))}
        </nav>
      </header>
      <DomainContent key={`${name} ${view}`} name={name} view={view} />
    </>
  )
}

/** The A-labels stay visible: two names that look alike have different ones. */
function UnicodeName({ name }: { name: string }) {
  const unicode = unicodeName(name)
  if (unicode === null) return null
  return (
    <p class="subject-unicode">
      In Unicode: <bdi>{unicode}</bdi>
    </p>
  )
}

function Tab({ name, tab, isCurrent }: { name: string; tab: DomainView; isCurrent: boolean }) {
  const isLoaded = useIsLoaded(DOMAIN_CALLS[tab.view]!(name))
  const href = profilePath(name) + (tab.view === '' ? '' : `/${tab.view}`)
  return (
    <a href={href} aria-current={isCurrent ? 'page' : undefined}>
      {tab.text}
      {!isLoaded && !isCurrent && <span class="cost"> 1 call</span>}
    </a>
  )
}

function DomainContent({ name, view }: { name: string; view: string }) {
  const { query } = useSignal(pageAddress)
  const day = query.get('at')
  if (view === 'history') return <History name={name} />
  if (view === 'web') return <WebHistory name={name} />
  if (view === 'certificates') return <Certificates name={name} />
  if (view === 'neighbours') return <Neighbours name={name} />
  if (view === 'redirects') return <Redirects name={name} />
  if (view === 'uses') return <Uses key={query.get('text')} name={name} text={query.get('text')} />
  if (view === 'similar') return <Similar name={name} />
  if (view === 'lookalikes') return <Lookalikes name={name} />
  return day === null ? <Overview name={name} /> : <DomainAsOf key={day} name={name} day={day} />
}

/**
 * Returns null if the name has no A-label, or if the Unicode form is not exactly the same name: a label that does not
 * decode, or one that browsers write differently.
 */
function unicodeName(name: string): string | null {
  if (!/(?:^|\.)xn--/.test(name)) return null
  try {
    const unicode = toUnicode(name)
    return unicode !== name && new URL(`http://${unicode}`).hostname === name ? unicode : null
  } catch {
    return null
  }
}
