/** The feed of an account: an Atom document (RFC 4287) of its newest events, and the schemas of its link. */

import { createHash } from 'node:crypto'
import { summaryOf } from '../../../delivery/digest-text.ts'
import type { StoredEvent } from '../../../store/port/watch/events.ts'
import { type Instant, utcText } from '../../../values/time.ts'
import { exactObject, nullable, Type, UtcInstantSchema } from '../schema.ts'

export const ATOM_TYPE = 'application/atom+xml; charset=utf-8'
const TAG_LENGTH = 16

export const FeedSchema = exactObject({
  created: nullable(UtcInstantSchema, 'When the link was created; null: there is none.'),
})
export const NewFeedSchema = exactObject({
  created: UtcInstantSchema,
  path: Type.String({
    description: 'What follows the address of the service. It has the key, and is shown only once.',
    examples: ['/events.atom?key=…'],
  }),
})

/** An entity tag of the events of a feed, to be sent as a weak one. It changes if one of them is forgotten. */
export function feedTag(events: readonly StoredEvent[]): string {
  const numbers = events.map(({ number, time }) => `${number}_${time}`).join()
  return `"${createHash('sha256').update(numbers).digest('base64url').slice(0, TAG_LENGTH)}"`
}

/** `events`: the newest first. `site`: the address of the service. `now`: for a feed without events. */
export function atomFeed(events: readonly StoredEvent[], site: string, now: Instant): string {
  const updated = events[0]?.time ?? now
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escapeXml(`${site}/events.atom`)}</id>
<title>What your watches matched</title>
<author><name>domaindex</name></author>
<link href="${escapeXml(`${site}/watches`)}"/>
<updated>${utcText(updated)}</updated>
${events.map((event) => atomEntry(event, site)).join('')}</feed>
`
}

function atomEntry({ number, name, time, differences }: StoredEvent, site: string): string {
  const summary = escapeXml(summaryOf(differences))
  return `<entry>
<id>${escapeXml(`${site}/events#${number}`)}</id>
<title>${name === null ? '' : `${escapeXml(name)}: `}${summary}</title>
<updated>${utcText(time)}</updated>
<link href="${escapeXml(name === null ? `${site}/watches` : `${site}/domain/${name}`)}"/>
<content type="text">${summary}</content>
</entry>
`
}

/** A text in XML 1.0, which has no control characters. */
function escapeXml(text: string): string {
  const escaped = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (character) => escaped[character as keyof typeof escaped]).replace(/\p{Cc}/gu, '�')
}
