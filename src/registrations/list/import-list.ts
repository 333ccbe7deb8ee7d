/** Imports a list of names, one per line: every valid name was registered on the day of the list. */

import { addNames } from '../add-names.ts'
import { dayInName, dayOfFile } from '../dates.ts'
import { syncDay, withFolderLock } from '../folder.ts'
import type { RegistrationImportOptions, RegistrationImportResult, RegistrationInput } from '../import-options.ts'
import { type DraftList, discardList, draftList, openDraftList, publishSource, readSource } from '../sources.ts'
import { parseNameList } from './parse-list.ts'

/** Digits of the digest that names a list. */
const LIST_DIGEST_DIGITS = 16

/** The pattern of a list's name. */
export const LIST_NAME_PATTERN = /^[a-z0-9_-][a-z0-9._-]{0,63}$/

/**
 * Imports a list completely or not at all: stores its names, makes them due, and then publishes the day. `name`: a
 * later list of that name replaces this one. Null: the content identifies the list, which is added to the others.
 */
export function importList(
  options: RegistrationImportOptions,
  input: RegistrationInput & { name: string | null },
): Promise<RegistrationImportResult> {
  return withFolderLock(options.root, async () => {
    const { root, store } = options
    const day = dayOfFile(
      [input.day, dayInName(input.path)],
      await store.now(),
      ', or --no-registrations for names of no day',
    )
    const { names, unusable, sha256 } = await parseNameList(options, input.bytes)
    const source = `list:${input.name ?? sha256.slice(0, LIST_DIGEST_DIGITS)}`
    const drafts: DraftList[] = [await draftList(root, day, source, names)]
    drafts.push(await draftList(root, day, source, []))
    const [listed, none] = drafts as [DraftList, DraftList]
    const common = {
      source,
      day,
      names: listed.count,
      registered: listed.count,
      dropped: 0,
      unusable,
      comparedDay: null,
    }
    const isSame = (await readSource(root, day, source))?.basis === listed.sha256
    let newNames = 0
    try {
      if (isSame) {
        await syncDay(root, day)
        return { ...common, newNames, isFirst: false, rebuiltDay: null, isSame }
      }
      newNames = await addListNames(options, listed)
      await publishSource(root, { basis: listed.sha256, imported: await store.now() }, [listed, none])
      drafts.length = 0
      return { ...common, newNames, isFirst: false, rebuiltDay: null, isSame }
    } finally {
      for (const draft of drafts) await discardList(root, draft)
    }
  })
}

async function addListNames(options: RegistrationImportOptions, listed: DraftList): Promise<number> {
  let [done, newNames] = [0, 0]
  const onKnown = (names: number, more: number): void => {
    done += names
    newNames += more
    options.onNames(done)
  }
  await addNames(
    (await openDraftList(options.root, listed))!,
    { insertsUnknown: true, makesDue: true, registered: listed.day },
    { ...options, onAdded: onKnown },
  )
  await options.store.observations.sync()
  return newNames
}
