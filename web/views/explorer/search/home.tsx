/** The start page: the search box, what a look-up costs, and what was looked up before. */

import { quota } from '../../../client/quota.ts'
import { accountOf, session } from '../../../client/session.ts'
import { useSignal } from '../../../client/signal.ts'
import { countOf, formatCount } from '../../../parts/numbers.ts'
import { explorerAddress } from './explorer-address.ts'
import { QueryBox } from './query-box.tsx'
import { recentQueries } from './recent.ts'

export function Home() {
  const account = accountOf(useSignal(session))
  return (
    <div class="home">
      <h1>What is behind a domain?</h1>
      <p class="lead">DNS and how it changed, website and redirects, certificate, neighbours and look-alikes.</p>
      <QueryBox isLarge />
      <p class="hint home-cost">{account === null ? <SignedOutHint /> : <CostHint />}</p>
      <RecentQueries />
    </div>
  )
}

function SignedOutHint() {
  const state = useSignal(session)
  if (state === null) return <>One look-up costs 1 call.</>
  return (
    <>
      One look-up costs 1 call of an account. <a href="/sign-in">Sign in</a> first, or read the{' '}
      <a href="/docs">API reference</a>.
    </>
  )
}

function CostHint() {
  const left = useSignal(quota)
  if (left === null) return <>One look-up costs 1 call.</>
  if (left.remaining === null) return <>One look-up costs 1 call. Your account has no daily limit.</>
  return (
    <>
      One look-up costs 1 call. You have <strong>{formatCount(left.remaining)}</strong> of{' '}
      {countOf(left.limit ?? 0, 'call')} left today.
    </>
  )
}

function RecentQueries() {
  const recent = useSignal(recentQueries)
  if (recent.length === 0) return null
  return (
    <nav class="recent" aria-label="Looked up before">
      <h2>Looked up before</h2>
      <ul>
        {recent.map((query) => (
          <li key={query.value}>
            <a class="chip" href={explorerAddress(query)}>
              {query.value}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
