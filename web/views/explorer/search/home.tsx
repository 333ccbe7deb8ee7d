/** The start page: the search box, what a look-up costs, names to try, and what was looked up before. */

import type { ComponentChildren } from 'preact'
import { type PastedQuery, parsePastedQuery } from '../../../../src/values/pasted/pasted-query.ts'
import { CallError, quota } from '../../../client/http.ts'
import { explorerAddress } from '../../../client/paths.ts'
import { accountOf, session } from '../../../client/session.ts'
import { useSignal } from '../../../client/signal.ts'
import { countOf, formatCount } from '../../../parts/text/numbers.ts'
import { QueryBox } from './query-box.tsx'
import { forgetRecentQueries, recentQueries } from './recent.ts'

const VIEWS = [
  ['Overview', 'Website, certificate, redirect, current records of seven types, and how old each part is.'],
  ['DNS history', 'Every state of the records as a time line, and what came and went between two of them.'],
  ['Neighbours', 'The other domains on the same addresses, and since when.'],
  ['Redirects', 'The domains that redirect to it, and where it redirects to.'],
  ['Search', 'Names by a part of them: bank*, *.bank, or a regular expression.'],
  ['Lookalikes', 'Names that imitate a domain: typing errors, other suffixes, letters that look alike.'],
  ['Similar pages', 'Websites whose start pages read alike, with scores.'],
] as const

export function Home() {
  const account = accountOf(useSignal(session))
  return (
    <div class="home">
      <h1>What is behind a domain?</h1>
      <p class="lead">DNS and how it changed, website and redirects, certificate, neighbours and look-alikes.</p>
      <QueryBox isLarge />
      <p class="hint home-cost">{account === null ? <SignedOutHint /> : <CostHint />}</p>
      <Examples />
      <RecentQueries />
      <dl class="home-views">
        {VIEWS.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
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

/** Names that the installation proposes. Only the demo has some. */
function Examples() {
  const state = useSignal(session)
  const examples = state === null || state instanceof CallError ? [] : state.examples
  const queries = examples.map(parsePastedQuery).filter((query) => query !== null)
  return <QueryList title="Names to try" queries={queries} />
}

function RecentQueries() {
  const recent = useSignal(recentQueries)
  const clear = (
    <button class="text-button" type="button" onClick={forgetRecentQueries}>
      Clear
    </button>
  )
  return <QueryList title="Looked up in this browser" queries={recent} aside={clear} />
}

type QueryListProps = { title: string; queries: readonly PastedQuery[]; aside?: ComponentChildren }

function QueryList({ title, queries, aside }: QueryListProps) {
  if (queries.length === 0) return null
  return (
    <nav class="recent" aria-label={title}>
      <h2>
        {title} {aside}
      </h2>
      <ul>
        {queries.map((query) => (
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
