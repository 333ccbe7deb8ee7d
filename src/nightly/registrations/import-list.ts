/** Takes a list of names, one a line: every usable one of it was registered on its day. */

import { createHash } from 'node:crypto'
import { InputFault } from '../../input/fault.ts'
import { beginningOf, isBlank, type Line, lineCutter, lineText, whyNoText } from '../../input/lines.ts'
import { type Sorter, sorter } from '../../input/runs.ts'
import { parseName, whyNotName } from '../../words/name.ts'
import { dayInName, dayOfFile } from './dates.ts'
import { bring } from './known.ts'
import { alone } from './place.ts'
import { type Draft, discardList, draftList, openList, publishSource, sourceOf } from './sources.ts'
import { type Given, refuse, type Taken, type Taking } from './taking.ts'

/** Digits of a digest that name a list. */
const DIGITS = 16

/** What a list may be called. */
export const LIST_NAME = /^[a-z0-9_-][a-z0-9._-]{0,63}$/

/** A list that was read: how many lines of it were not blank, and how many of these no names. */
type ReadList = { names: Sorter; filled: number; unusable: number; sha256: string }

/**
 * Takes a list whole or not at all: its names become known to the store and due, and then the day's. `name`: what it is
 * called, so that a later one of that name takes its place; null for one that goes by its content and adds to the others.
 */
export function importList(taking: Taking, given: Given & { name: string | null }): Promise<Taken> {
  return alone(taking.root, async () => {
    const { root, store } = taking
    const day = dayOfFile([given.day, dayInName(given.path)], await store.now())
    const { names, filled, unusable, sha256 } = await readNames(taking, given.bytes)
    if (unusable > 0 && unusable === filled) throw new InputFault('none of its lines is a name')
    const source = `list:${given.name ?? sha256.slice(0, DIGITS)}`
    const drafts: Draft[] = [await draftList(root, day, source, distinct(names.sorted()))]
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

async function readNames(taking: Taking, bytes: AsyncIterable<Uint8Array>): Promise<ReadList> {
  const cutter = lineCutter()
  const digest = createHash('sha256')
  const read = { names: sorter(), filled: 0, unusable: 0 }
  let number = 0
  const take = (line: Line): void => {
    number++
    if (isBlank(line)) return
    read.filled++
    const reason = whyUnusable(line, number, read.names)
    if (reason === null) return
    read.unusable++
    refuse(taking, { line: number, reason, length: line.length, text: beginningOf(line) })
  }
  for await (const chunk of bytes) {
    taking.signal.throwIfAborted()
    digest.update(chunk)
    for (const line of cutter.take(chunk as Buffer)) take(line)
    taking.onLines(number)
  }
  const rest = cutter.rest()
  if (rest !== null) take(rest)
  return { ...read, sha256: digest.digest('hex') }
}

/** Keeps the name in a line; why there is none, and null where there is. */
function whyUnusable(line: Line, number: number, names: Sorter): string | null {
  const text = lineText(line, number)
  if (text === null) return whyNoText(line)
  const name = parseName(text)
  if (name === null) return whyNotName(text)
  names.add(name)
  return null
}

function* distinct(sorted: Iterable<string>): Generator<string> {
  let last = ''
  for (const name of sorted) {
    if (name !== last) yield name
    last = name
  }
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
