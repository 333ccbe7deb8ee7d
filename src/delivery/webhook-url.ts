/** The URLs of webhooks: which ones an account may name. It resolves no host; each attempt does, and checks again. */

import { isIP } from 'node:net'
import { alsoPrivate, isVettedTarget, type MayConnect, publicOnly } from '../fetch/vetted-target.ts'

const MAX_URL_LENGTH = 2_000
const HTTPS_PORT = ''

/** Which addresses may be connected to. `allowsPrivate`: the setting of the operator. */
export function webhookTargets(allowsPrivate: boolean): MayConnect {
  return allowsPrivate ? alsoPrivate() : publicOnly()
}

/** Returns the URL in canonical form, or what is wrong with it, as a sentence. */
export function parseWebhookUrl(text: string, allowsPrivate: boolean): { url: string } | { problem: string } {
  const url = URL.canParse(text) && text.length <= MAX_URL_LENGTH ? new URL(text) : null
  if (url === null) return { problem: `It must be a URL of at most ${MAX_URL_LENGTH} characters.` }
  if (url.username !== '' || url.password !== '') return { problem: 'It must have no user and password.' }
  if (url.hash !== '') return { problem: 'It must have no fragment (#).' }
  const isAllowed = allowsPrivate
    ? /^https?:$/.test(url.protocol)
    : url.protocol === 'https:' && url.port === HTTPS_PORT
  if (!isAllowed) return { problem: allowsPrivate ? 'It must be an http:// or https:// URL.' : HTTPS_PROBLEM }
  const isHost = isIP(url.hostname.replace(/^\[(.*)\]$/, '$1')) !== 0 || url.hostname.includes('.')
  if (!isVettedTarget(url, webhookTargets(allowsPrivate)) || !(isHost || allowsPrivate))
    return { problem: 'Its host must be public.' }
  return { url: url.href }
}

const HTTPS_PROBLEM = 'It must be an https:// URL without a port.'
