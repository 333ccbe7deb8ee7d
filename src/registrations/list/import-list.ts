/** Takes a list of names, one a line: every usable one of it was registered on its day. */

import { addNames } from '../add-names.ts'
import { dayInName, dayOfFile } from '../dates.ts'
import { withFolderLock } from '../folder.ts'
import type { RegistrationImportOptions, RegistrationImportResult, RegistrationInput } from '../import-options.ts'
import { type DraftList, discardList, draftList, openDraftList, publishSource, readSource } from '../sources.ts'
import { parseNameList } from './parse-list.ts'

/** Digits of a digest that name a list. */
const LIST_DIGEST_DIGITS = 16

/** What a list may be called. */
export const LIST_NAME_PATTERN = /^[a-z0-9_-][a-z0-9._-]{0,63}$/

/**
 * Takes a list whole or not at all: its names become known to the store and due, and then the day's. `name`: what it is
 * called, so that a later one of that name takes its place; null for one that goes by its content and adds to the
 * others.
 */
export function importList(
  options: RegistrationImportOptions,
  input: RegistrationInput & { name: string | null },
): Promise<RegistrationImportResult> {
  return withFolderLock(options.root, async () => {
    const { root, store } = options
    const day = dayOfFile([input.day, dayInName(input.path)], await store.now())
    const { names, unusable, sha256 } = await parseNameList(options, input.bytes)
    const source = `list:${input.name ?? sha256.slice(0, LIST_DIGEST_DIGITS)}`
    const drafts: DraftList[] = [await draftList(root, day, source, names)]
    drafts.push(await draftList(root, day, source, []))
    const [listed, none] = drafts as [DraftList, DraftList]
    const taken = {
      source,
      day,
      names: listed.count,
      registered: listed.count,
      dropped: 0,
      unusable,
      comparedDay: null,
    }
    const isSame = (await readSource(root, day, source))?.basis === listed.sha256
    let fresh = 0
    try {
      if (isSame) return { ...taken, newNames: fresh, isFirst: false, rebuiltDay: null, isSame }
      fresh = await addListNames(options, listed)
      await publishSource(root, { basis: listed.sha256, imported: await store.now() }, [listed, none])
      drafts.length = 0
      return { ...taken, newNames: fresh, isFirst: false, rebuiltDay: null, isSame }
    } finally {
      for (const draft of drafts) await discardList(root, draft)
    }
  })
}

async function addListNames(options: RegistrationImportOptions, listed: DraftList): Promise<number> {
  let [done, fresh] = [0, 0]
  const onKnown = (names: number, more: number): void => {
    done += names
    fresh += more
    options.onNames(done)
  }
  await addNames(
    (await openDraftList(options.root, listed))!,
    { insertsUnknown: true, makesDue: true },
    { ...options, onAdded: onKnown },
  )
  return fresh
}
