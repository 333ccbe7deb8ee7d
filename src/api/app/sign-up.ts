/**
 * New accounts and new passwords by mail. The answer and its time are the same for known and unknown addresses: what
 * differs happens after the answer.
 */

import type { NewAccount } from '../../accounts/account.ts'
import { webActor } from '../../accounts/audit.ts'
import { passwordProblem } from '../../accounts/password.ts'
import { hashSecret, type LinkKind, type OneTimeLink } from '../../accounts/session.ts'
import { formatInstant, type Instant, SECONDS_PER_DAY } from '../../values/time.ts'
import { countLinkUse, countMail } from '../auth/attempt-limits.ts'
import { createOneTimeLink } from '../auth/sign-in-link.ts'
import type { ApiContext } from '../context/context.ts'
import type { Mailer, Message } from '../context/mailer.ts'
import { ApiError } from '../http/errors.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { readBody } from '../http/request.ts'
import type { ApiResponse } from '../http/response.ts'
import type { OpenHandler } from './app-handler.ts'
import { readEmail, readText, valueError } from './request-values.ts'
import { startSession } from './sessions.ts'

/** Seconds for which the links are valid. */
const VERIFY_SECONDS = SECONDS_PER_DAY
const PASSWORD_SECONDS = 3_600

const ACCEPTED: ApiResponse = { status: 202, body: [], headers: [] }
const NO_MAIL_MESSAGE = 'This service sends no mail: ask its operator for an account or a link to sign in.'

/**
 * Sends a link that creates the account, or a hint that there is one. The password comes with the link: whoever signs up
 * with the address of somebody else never knows the password of the account.
 */
export const signUp: OpenHandler = async (context, request) => {
  const { ledger, now } = context
  const mailer = requireMailer(context)
  const email = readEmail(readBody(request))
  const maySend = await countMail(ledger, 'sign-up', { client: request.ip, email }, now())
  inBackground(context, maySend, async () => {
    if ((await ledger.account(email)) !== null)
      return mailer.send({ to: email, ...existingAccountMessage(mailer.publicUrl) })
    const made = await createMailLink(context, mailer, { kind: 'sign-up', account: null, email }, VERIFY_SECONDS)
    await mailer.send({ to: email, ...verifyMessage(made) })
  })
  return ACCEPTED
}

/** Creates the account of a link with a password, and signs in. */
export const verify: OpenHandler = async (context, request) => {
  const { ledger, now } = context
  const { link, hash } = await takePasswordLink(context, request, 'sign-up')
  const email = link.email!
  const wanted: NewAccount = { email, role: 'user', plan: 'free', periods: [], addons: [] }
  const changes = ledger.as(webActor(email))
  const account = await changes.createAccount(wanted, now())
  if (account === null) throw new ApiError('link_invalid', { msg: 'This address has an account already: sign in.' })
  await changes.setPassword(account.id, hash, null, now())
  return startSession(context, request, account, now())
}

/** Sends a link that sets a new password, if the address has an account. */
export const forgotPassword: OpenHandler = async (context, request) => {
  const { ledger, now } = context
  const mailer = requireMailer(context)
  const email = readEmail(readBody(request))
  const maySend = await countMail(ledger, 'password', { client: request.ip, email }, now())
  inBackground(context, maySend, async () => {
    const account = await ledger.account(email)
    if (account === null || account.suspended !== null) return
    const link = { kind: 'password', account: account.id, email: null } as const
    const made = await createMailLink(context, mailer, link, PASSWORD_SECONDS)
    await mailer.send({ to: account.email, ...passwordMessage(made) })
  })
  return ACCEPTED
}

/** Sets the password of a link's account, ends its sessions and signs in. */
export const resetPassword: OpenHandler = async (context, request) => {
  const { ledger, now } = context
  const { link, hash } = await takePasswordLink(context, request, 'password')
  const account = await ledger.accountById(link.account!)
  if (account === null || account.suspended !== null) throw new ApiError('link_invalid')
  await ledger.as(webActor(account.email)).setPassword(account.id, hash, null, now())
  return startSession(context, request, account, now())
}

/** The link of a request and the hash of its new password. A refused password does not use up the link. */
async function takePasswordLink(
  { ledger, passwords, now }: ApiContext,
  request: ApiRequest,
  kind: LinkKind,
): Promise<{ link: OneTimeLink; hash: string }> {
  const body = readBody(request)
  const [code, password] = [readText(body, 'code'), readText(body, 'password')]
  const problem = passwordProblem(password, null)
  if (problem !== null) throw valueError('password', problem)
  await countLinkUse(ledger, request.ip, now()) // before the work of a hash
  const hash = await passwords.hash(password)
  const secret = hashSecret(code)
  const link = secret === null ? null : await ledger.takeLink(secret, kind, now())
  if (link === null) throw new ApiError('link_invalid')
  return { link, hash }
}

function requireMailer({ mailer }: ApiContext): Mailer {
  if (mailer === null) throw new ApiError('mail_unavailable', { msg: NO_MAIL_MESSAGE })
  return mailer
}

/** Does what depends on the address after the answer. */
function inBackground({ log, background }: ApiContext, maySend: boolean, work: () => Promise<unknown>): void {
  if (!maySend) return
  background(() => work().catch((err: unknown) => log.error({ err }, 'ledger failed')))
}

async function createMailLink({ ledger, now }: ApiContext, { publicUrl }: Mailer, link: OneTimeLink, seconds: number) {
  const { url, expires } = await createOneTimeLink(ledger, link, publicUrl, seconds, now())
  return { site: publicUrl, link: url, expires }
}

type Content = Omit<Message, 'to'>

/** `site`: the address of the web page. `link`: what to open, before `expires`. */
type LinkMessage = { site: string; link: string; expires: Instant }

const IGNORE = 'If you did not ask for this, ignore this message: nothing has changed.'

function verifyMessage({ site, link, expires }: LinkMessage): Content {
  return {
    subject: `Confirm your email address for ${hostOf(site)}`,
    text: lines('Someone signed up with this email address. To confirm it, open', link, until(expires), IGNORE),
  }
}

/** For a sign-up with the address of an account. */
function existingAccountMessage(site: string): Content {
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

function passwordMessage({ site, link, expires }: LinkMessage): Content {
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
