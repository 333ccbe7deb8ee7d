/** Responses that are kept in memory, so that going back to a view costs no second call. */

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type CallError, callServer } from './http.ts'
import { createSignal, useSignal } from './signal.ts'

export type Loaded<Body> =
  | { state: 'loading'; body?: undefined; error?: undefined }
  | { state: 'done'; body: Body; error?: undefined }
  | { state: 'failed'; body?: undefined; error: CallError }

const LOADING = { state: 'loading' } as const

const kept = new Map<string, Loaded<unknown>>()
/** The paths that no view has used since they were loaded ahead. One that failed is not loaded again at the first use. */
const loadedAhead = new Set<string>()
/** Counts how often all responses were forgotten. */
let generation = 0
/** Counts the changes of `kept`. */
const changes = createSignal(0)

function keep(path: string, loaded: Loaded<unknown>): void {
  kept.set(path, loaded)
  changes.set(changes.get() + 1)
}

/** Keeps a response under another path that would have the same one. */
export function keepBody(path: string, body: unknown): void {
  keep(path, { state: 'done', body })
}

/** Whether a response is in memory. Components that use it render again when it arrives. */
export function useIsLoaded(path: string): boolean {
  useSignal(changes)
  return kept.get(path)?.state === 'done'
}

/** The response in memory; undefined if it is not loaded. It does not load it. */
export function keptBody<Body>(path: string): Body | undefined {
  return kept.get(path)?.body as Body | undefined
}

/** The same for a component, which renders again when the response arrives. */
export function useKept<Body>(path: string): Body | undefined {
  useSignal(changes)
  return keptBody(path)
}

/** Forgets every response, also those on the way, because another account signed in. Shown views load theirs again. */
export function forgetLoaded(): void {
  kept.clear()
  loadedAhead.clear()
  generation++
  changes.set(changes.get() + 1)
}

async function load(path: string): Promise<void> {
  const started = generation
  keep(path, LOADING)
  const loaded: Loaded<unknown> = await callServer(path).then(
    (body) => ({ state: 'done', body }),
    (error: CallError) => ({ state: 'failed', error }),
  )
  if (started === generation) keep(path, loaded)
}

/** Loads paths before a view uses them, so that it has its data when it is first rendered. */
export function loadDataAhead(paths: readonly string[]): void {
  for (const path of paths) {
    loadedAhead.add(path)
    void load(path)
  }
}

/** The response of a path, which is loaded once; null: nothing. `retry` loads it again after a failure. */
export function useLoaded<Body>(path: string | null): { loaded: Loaded<Body>; retry: () => void } {
  useSignal(changes)
  const retry = (): void => void (path !== null && load(path))
  useEffect(() => {
    if (path === null || loadedAhead.delete(path)) return
    if (!kept.has(path) || kept.get(path)?.state === 'failed') void load(path)
  }, [path, generation])
  return { loaded: ((path !== null && kept.get(path)) || LOADING) as Loaded<Body>, retry }
}

/**
 * The response of a path, loaded each time that a component shows it. `reload` keeps the old body until the new one. The
 * body of one path is never shown under another, and only the newest call of a path counts.
 */
export function useFresh<Body>(path: string): { loaded: Loaded<Body>; reload: () => Promise<void> } {
  const [fresh, setFresh] = useState<{ path: string; loaded: Loaded<Body> }>({ path, loaded: LOADING })
  const newest = useRef(0)
  const reload = useCallback(async (): Promise<void> => {
    const number = ++newest.current
    const loaded = await callServer<Body>(path).then(
      (body) => ({ state: 'done', body }) as const,
      (error: CallError) => ({ state: 'failed', error }) as const,
    )
    if (number === newest.current) setFresh({ path, loaded })
  }, [path])
  useEffect(() => {
    setFresh({ path, loaded: LOADING })
    void reload()
  }, [path, reload])
  return { loaded: fresh.path === path ? fresh.loaded : LOADING, reload }
}
