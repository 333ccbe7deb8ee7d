/** Takes a list of names, one a line: every usable one of it was registered on its day. */

import { dayInName, dayOfFile } from './dates.ts'
import { bring } from './known.ts'
import { alone } from './place.ts'
import { readList } from './read-list.ts'
import { type Draft, discardList, draftList, openList, publishSource, sourceOf } from './sources.ts'
import type { Given, Taken, Taking } from './taking.ts'

/** Digits of a digest that name a list. */
const DIGITS = 16

/** What a list may be called. */
export const LIST_NAME = /^[a-z0-9_-][a-z0-9._-]{0,63}$/

/**
 * Takes a list whole or not at all: its names become known to the store and due, and then the day's. `name`: what it is
 * called, so that a later one of that name takes its place; null for one that goes by its content and adds to the others.
 */
export function importList(taking: Taking, given: Given & { name: string | null }): Promise<Taken> {
  return alone(taking.root, async () => {
    const { root, store } = taking
    const day = dayOfFile([given.day, dayInName(given.path)], await store.now())
    const { names, unusable, sha256 } = await readList(taking, given.bytes)
    const source = `list:${given.name ?? sha256.slice(0, DIGITS)}`
    const drafts: Draft[] = [await draftList(root, day, source, names)]
    drafts.push(await draftList(root, day, source, []))
    const [listed, none] = drafts as [Draft, Draft]
    const taken = { source, day, names: listed.count, registered: listed.count, dropped: 0, unusable, against: null }
    const isSame = (await sourceOf(root, day, source))?.basis === listed.sha256
    let fresh = 0
    try {
      if (isSame) return { ...taken, fresh, isFirst: false, remade: null, isSame }
      fresh = await bringList(taking, listed)
      await publishSource(root, { basis: listed.sha256, imported: await store.now() }, [listed, none])
      drafts.length = 0
      return { ...taken, fresh, isFirst: false, remade: null, isSame }
    } finally {
      for (const draft of drafts) await discardList(root, draft)
    }
  })
}

async function bringList(taking: Taking, listed: Draft): Promise<number> {
  let [done, fresh] = [0, 0]
  const onKnown = (names: number, more: number): void => {
    done += names
    fresh += more
    taking.onNames(done)
  }
  await bring((await openList(taking.root, listed))!, { isNew: true, isDue: true }, { ...taking, onKnown })
  return fresh
}
