/** Links to download a file, signed for one account, session, file and content, and valid for 15 minutes. */

import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { FileName } from '../../jobs/file-store/file-store.ts'
import type { Instant } from '../../values/time.ts'

/** Seconds for which a link is valid. A download that has started continues. */
const LINK_SECONDS = 900

/** Who may use a link, and for which file. */
export type LinkOwner = { account: number; session: number; name: FileName }

/** The keys that sign links, by number. The first one is the newest. */
export type LinkKeys = ReadonlyMap<string, KeyObject>

/** The purpose of the derived key (RFC 5869, section 3.2). The number is the version of the link format. */
export const LINK_KEY_PURPOSE = 'domaindex download link 1'

/** Returns `NUMBER.EXPIRES.TAG.SIGNATURE`, safe in a URL. `etag`: the entity tag of the file, in quotes. */
export function signLink(keys: LinkKeys, owner: LinkOwner, etag: string, now: Instant): string {
  const [[number, key] = []] = keys
  if (number === undefined || key === undefined) throw new Error('there is no key to sign a link')
  const fields = `${number}.${now + LINK_SECONDS}.${etag.slice(1, -1)}`
  return `${fields}.${linkSignature(key, fields, owner)}`
}

/**
 * Returns the entity tag of the file for which a link was made; null if the link is altered, expired, or not theirs.
 */
export function verifyLink(keys: LinkKeys, text: string, owner: LinkOwner, now: Instant): string | null {
  const [number = '', expires = '', tag = '', signature = '', ...rest] = text.split('.')
  const key = keys.get(number)
  if (key === undefined || rest.length > 0) return null
  const expected = Buffer.from(linkSignature(key, `${number}.${expires}.${tag}`, owner))
  const actual = Buffer.from(signature)
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return null
  return now < Number(expires) ? `"${tag}"` : null
}

function linkSignature(key: KeyObject, fields: string, { account, session, name }: LinkOwner): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([fields, account, session, name]))
    .digest('base64url')
}
