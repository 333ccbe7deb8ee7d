/** The events of the watches, newest first; further ones appear as they come. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { CallError, callServer } from '../../client/http.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { announce } from '../../parts/live-region.tsx'
import { EmptyState, ErrorBox, Loading } from '../../parts/notice.tsx'
import { countOf } from '../../parts/numbers.ts'
import { Switch } from '../../parts/switch.tsx'
import { Ago } from '../../parts/time.tsx'
import { profilePath } from '../explorer/data/responses.ts'
import { differenceText } from './difference-text.ts'
import type { EventPage, Watch, WatchEvent } from './watches.ts'

const PAGE_EVENTS = 50
/** Seconds for which a request waits for an event. */
const WAIT_SECONDS = 30
/** Milliseconds from new events to the next request, so that a burst of them is one call. */
const PAUSE_MS = 5_000

type Events = {
  /** Newest first; null until they are loaded. */
  events: readonly WatchEvent[] | null
  /** Whether there may be older ones. */
  hasOlder: boolean
  error: CallError | null
  /** Loads older events, or after an error continues. */
  more: () => void
}

/** Resolves when the page is in front: events that nobody sees cost no calls. */
async function untilVisible(): Promise<void> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
}

/** Loads the newest events. If `isLive`, waits for further ones until the component is removed or a call fails. */
function useEvents(isLive: boolean): Events {
  const [events, setEvents] = useState<readonly WatchEvent[] | null>(null)
  const [next, setNext] = useState(0)
  const [error, setError] = useState<CallError | null>(null)
  const [attempt, setAttempt] = useState(0)
  const newest = useRef(0)
  const load = async (before: number | 'now'): Promise<void> => {
    const { meta, result } = await callServer<EventPage>(`/events?before=${before}&limit=${PAGE_EVENTS}`)
    newest.current = Math.max(newest.current, result[0]?.id ?? 0)
    setEvents((known) => [...(known ?? []), ...result])
    setNext(meta.next)
  }
  const loadLater = async (signal: AbortSignal): Promise<void> => {
    const path = `/events?after=${newest.current}&limit=${PAGE_EVENTS}&wait=${WAIT_SECONDS}`
    const { meta, result } = await callServer<EventPage>(path, { signal })
    if (result.length === 0) return
    newest.current = meta.next
    setEvents((known) => [...result.toReversed(), ...(known ?? [])])
    announce(countOf(result.length, 'new event'))
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  const report = (thrown: unknown): void => {
    if (!(thrown instanceof CallError)) throw thrown
    setError(thrown)
  }
  useEffect(() => {
    const leaving = new AbortController()
    const follow = async (): Promise<void> => {
      if (events === null) await load('now')
      while (isLive && !leaving.signal.aborted) {
        await untilVisible()
        await loadLater(leaving.signal)
      }
    }
    follow().catch((thrown) => leaving.signal.aborted || report(thrown))
    return () => leaving.abort()
  }, [attempt, isLive])
  const more = (): void => {
    setError(null)
    if (error === null) load(next).catch(report)
    else setAttempt(attempt + 1)
  }
  return { events, hasOlder: next > 0, error, more }
}

/** `watches`: null until they are loaded. */
export function EventList({ watches }: { watches: readonly Watch[] | null }) {
  const [isLive, setIsLive] = useState(true)
  const { events, hasOlder, error, more } = useEvents(isLive)
  return (
    <Card
      title="Events"
      aside={
        <>
          <span>A page with events costs 1 call</span>
          <Switch label="Live" isOn={isLive} onToggle={() => setIsLive(!isLive)} />
        </>
      }
    >
      {events === null && error === null && <Loading what="your events" />}
      {events?.length === 0 && (
        <EmptyState title="No event in the last 30 days">They appear here as soon as a change is observed.</EmptyState>
      )}
      {events !== null && events.length > 0 && <EventLines events={events} watches={watches} />}
      {error !== null && <ErrorBox error={error} onRetry={more} />}
      {error === null && hasOlder && <Button onClick={more}>Load older (1 call)</Button>}
    </Card>
  )
}

function EventLines({ events, watches }: { events: readonly WatchEvent[]; watches: readonly Watch[] | null }) {
  const values = watches && new Map(watches.map(({ id, value }) => [id, value]))
  const watchText = (watch: number | null): string => {
    if (watch === null) return 'account'
    return values === null ? '' : (values.get(watch) ?? 'removed watch')
  }
  return (
    <ol class="events">
      {events.map((event) => (
        <li key={event.id}>
          <span class="event-time">
            <Ago at={event.time} />
          </span>
          <span class="event-text">
            {event.name !== null && <a href={profilePath(event.name)}>{event.name}</a>}{' '}
            {event.differences.map(differenceText).join('; ')}
          </span>
          <span class="event-watch hint">{watchText(event.watch)}</span>
        </li>
      ))}
    </ol>
  )
}
