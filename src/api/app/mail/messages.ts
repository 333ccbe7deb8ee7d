/** The texts of the messages that the service sends. */

import { formatInstant, type Instant } from '../../../values/time.ts'
import type { Message } from './mailer.ts'

type Content = Omit<Message, 'to'>

/** `site`: the address of the web page. `link`: what to open, before `expires`. */
type LinkMessage = { site: string; link: string; expires: Instant }

const IGNORE = 'If you did not ask for this, ignore this message: nothing has changed.'

export function verifyMessage({ site, link, expires }: LinkMessage): Content {
  return {
    subject: `Confirm your email address for ${hostOf(site)}`,
    text: lines('Someone signed up with this email address. To confirm it, open', link, until(expires), IGNORE),
  }
}

/** For a sign-up with the address of an account. */
export function existingAccountMessage(site: string): Content {
  return {
    subject: `You have an account at ${hostOf(site)}`,
    text: lines(
      'Someone signed up with this email address, which has an account already. Sign in at',
      `${site}/sign-in`,
      'There you can also set a new password.',
      IGNORE,
    ),
  }
}

export function passwordMessage({ site, link, expires }: LinkMessage): Content {
  return {
    subject: `Set a new password for ${hostOf(site)}`,
    text: lines('To set a new password, open', link, until(expires), IGNORE),
  }
}

function until(expires: Instant): string {
  return `The link works once, until ${formatInstant(expires).replace('T', ' ')} UTC.`
}

function hostOf(site: string): string {
  return new URL(site).host
}

function lines(...paragraphs: string[]): string {
  return `${paragraphs.join('\n\n')}\n`
}
