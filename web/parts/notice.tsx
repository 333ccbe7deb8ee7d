/** What a view shows instead of data: loading, nothing on record, or an error and what to do about it. */

import type { ComponentChildren } from 'preact'
import type { CallError } from '../client/http.ts'
import type { Loaded } from '../client/loaded.ts'
import { signInAddress } from '../client/router.ts'
import { Button, LinkButton } from './button.tsx'
import { Icon } from './icons.tsx'
import { formatLocal, formatUtc } from './text/times.ts'

/** Grey lines in the form of a text, until the data is there. */
export function Loading({ what }: { what: string }) {
  return (
    <div class="loading" role="status">
      <span class="hidden">Loading {what}…</span>
      <span class="bone" />
      <span class="bone" />
      <span class="bone" />
    </div>
  )
}

export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
    </div>
  )
}

const TITLES: Record<string, string> = {
  offline: 'No connection',
  session_missing: 'You are signed out',
  plan_required: 'Your plan does not include this',
  premium_required: 'This needs the plan Premium',
  addon_required: 'This needs an add-on',
  rate_limited: 'No calls left today',
  no_data: 'Nothing on record',
  domain_format: 'This is not a domain or an IP address',
  too_many_attempts: 'Too many attempts',
}

/** An error with its next step: sign in, wait, or try again. */
export function ErrorBox({ error, onRetry }: { error: CallError; onRetry?: () => void }) {
  const canRetry = onRetry !== undefined && (error.status === 0 || error.status >= 500)
  return (
    <div class={error.key === 'no_data' ? 'empty' : 'error-box'} role={error.key === 'no_data' ? undefined : 'alert'}>
      <p class="empty-title">
        {error.key !== 'no_data' && <Icon name="alert" />} {TITLES[error.key] ?? 'Something went wrong'}
      </p>
      <p>{error.message}</p>
      {error.status === 429 && <ResetTime seconds={error.retryAfter} />}
      {error.status === 401 && <LinkButton href={signInAddress()}>Sign in</LinkButton>}
      {canRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

function ResetTime({ seconds }: { seconds: number | null }) {
  if (seconds === null) return null
  const reset = new Date(Date.now() + seconds * 1_000)
  return (
    <p>
      It works again at {formatUtc(reset)} ({formatLocal(reset)} your time).
    </p>
  )
}

type LoadedViewProps<Body> = {
  loaded: Loaded<Body>
  what: string
  onRetry: () => void
  children: (body: Body) => ComponentChildren
}

/** Shows the body of a response, or that it is loading, or why it failed. */
export function LoadedView<Body>({ loaded, what, onRetry, children }: LoadedViewProps<Body>) {
  if (loaded.state === 'loading') return <Loading what={what} />
  if (loaded.state === 'failed') return <ErrorBox error={loaded.error} onRetry={onRetry} />
  return <>{children(loaded.body)}</>
}
