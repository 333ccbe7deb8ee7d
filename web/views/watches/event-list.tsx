/** The events of the watches, newest first; if the user switches it on, further ones appear as they come. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { differenceText } from '../../../src/values/difference-text.ts'
import { CallError, callServer } from '../../client/http.ts'
import { profilePath } from '../../client/paths.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { announce } from '../../parts/live-region.tsx'
import { EmptyState, ErrorBox, Loading } from '../../parts/notice.tsx'
import { Switch } from '../../parts/switch.tsx'
import { countOf } from '../../parts/text/numbers.ts'
import { Ago } from '../../parts/time.tsx'
import { recordText } from '../explorer/history/history-data.ts'
import { type EventPage, type Watch, type WatchEvent, watchText } from './watches.ts'

const PAGE_EVENTS = 50
/** Seconds for which a request waits for an event. */
const WAIT_SECONDS = 30
/** Milliseconds from new events to the next request: the pause doubles while events keep coming, so a burst is few calls. */
const MIN_PAUSE_MS = 5_000
const MAX_PAUSE_MS = 60_000

type Events = {
  /** Newest first; null until they are loaded. */
  events: readonly WatchEvent[] | null
  /** Whether there may be older ones. */
  hasOlder: boolean
  error: CallError | null
  /** Whether older events are being loaded. */
  isBusy: boolean
  /** Loads older events, or after an error continues. */
  more: () => void
}

/** Resolves when the page is in front: events that nobody sees cost no calls. */
async function untilVisible(): Promise<void> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
}

/** Loads the newest events. If `isLive`, polls for further ones until the component is removed or a call fails. */
function useEvents(isLive: boolean): Events {
  const [events, setEvents] = useState<readonly WatchEvent[] | null>(null)
  const [next, setNext] = useState(0)
  const [error, setError] = useState<CallError | null>(null)
  const [attempt, setAttempt] = useState(0)
  const [isBusy, setIsBusy] = useState(false)
  const newest = useRef(0)
  const isLoaded = events !== null
  const report = (thrown: unknown): void => {
    if (!(thrown instanceof CallError)) throw thrown
    setError(thrown)
  }
  const load = async (before: number | 'now'): Promise<void> => {
    setIsBusy(true)
    try {
      const { meta, result } = await callServer<EventPage>(`/events?before=${before}&limit=${PAGE_EVENTS}`)
      newest.current = Math.max(newest.current, result[0]?.id ?? 0)
      setEvents((known) => [...(known ?? []), ...result])
      setNext(meta.next)
    } catch (thrown) {
      report(thrown)
    } finally {
      setIsBusy(false)
    }
  }
  /** Returns whether there were any. */
  const loadLater = async (signal: AbortSignal): Promise<boolean> => {
    const path = `/events?after=${newest.current}&limit=${PAGE_EVENTS}&wait=${WAIT_SECONDS}`
    const { meta, result } = await callServer<EventPage>(path, { signal })
    if (result.length === 0) return false
    newest.current = meta.next
    setEvents((known) => [...result.toReversed(), ...(known ?? [])])
    announce(countOf(result.length, 'new event'))
    return true
  }
  useEffect(() => {
    if (!isLoaded) void load('now')
  }, [attempt])
  useEffect(() => {
    if (!isLive || !isLoaded) return
    const leaving = new AbortController()
    const follow = async (): Promise<void> => {
      let pause = MIN_PAUSE_MS
      while (!leaving.signal.aborted) {
        await untilVisible()
        const isNew = await loadLater(leaving.signal)
        if (isNew) await new Promise((resolve) => setTimeout(resolve, pause))
        pause = isNew ? Math.min(2 * pause, MAX_PAUSE_MS) : MIN_PAUSE_MS
      }
    }
    follow().catch((thrown) => leaving.signal.aborted || report(thrown))
    return () => leaving.abort()
  }, [attempt, isLive, isLoaded])
  const more = (): void => {
    setError(null)
    if (error === null) void load(next)
    else setAttempt(attempt + 1)
  }
  return { events, hasOlder: next > 0, error, isBusy, more }
}

/** `watches`: null until they are loaded. */
export function EventList({ watches }: { watches: readonly Watch[] | null }) {
  const [isLive, setIsLive] = useState(false)
  const { events, hasOlder, error, isBusy, more } = useEvents(isLive)
  return (
    <Card title="Events" aside={<Switch label="Live" isOn={isLive} onToggle={() => setIsLive(!isLive)} />}>
      <p class="hint card-about">
        A page of events costs 1 call. Live shows new events as they come, for 1 call each time, at most 4 in a minute.
      </p>
      {events === null && error === null && <Loading what="your events" />}
      {events?.length === 0 && (
        <EmptyState title="No event in the last 30 days">Each change that a watch matches appears here.</EmptyState>
      )}
      {events !== null && events.length > 0 && <EventLines events={events} watches={watches} />}
      {error !== null && <ErrorBox error={error} onRetry={more} />}
      {error === null && hasOlder && (
        <Button onClick={more} isBusy={isBusy}>
          Load older (1 call)
        </Button>
      )}
    </Card>
  )
}

function EventLines({ events, watches }: { events: readonly WatchEvent[]; watches: readonly Watch[] | null }) {
  const texts = watches && new Map(watches.map((watch) => [watch.id, watchText(watch)]))
  const textOf = (watch: number | null): string => {
    if (watch === null) return 'account'
    return texts === null ? '' : (texts.get(watch) ?? 'removed watch')
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
            {event.differences.map((each) => differenceText(each, recordText)).join('; ')}
          </span>
          <span class="event-watch hint">{textOf(event.watch)}</span>
        </li>
      ))}
    </ol>
  )
}
