/** The settings of the web page. */

import { parseEmail } from '../accounts/account.ts'
import { CommandFault } from './command-fault.ts'
import { parseSwitch, type Setting } from './parse.ts'

export type WebSettings = {
  /** Whether the server has a web page. */
  web: boolean
  /** The address that users see, without a slash at its end; null: the host that they request. */
  publicUrl: string | null
  /** The URL of the SMTP server; null: the installation sends no mail. */
  smtp: string | null
  mailFrom: string | null
}

export const WEB_SETTINGS: { readonly [Key in keyof WebSettings]: Setting<WebSettings[Key]> } = {
  web: {
    name: 'DOMAINDEX_WEB',
    defaultText: 'on',
    meaning: 'Whether the server has a web page at `/`: explorer, account and API reference.',
    allowed: 'on or off',
    parse: parseSwitch,
  },
  publicUrl: {
    name: 'DOMAINDEX_PUBLIC_URL',
    defaultText: '',
    meaning:
      'The address of the web page as users see it, for links and for the check that a request comes from it. ' +
      'By default the host of the request counts.',
    allowed: 'an http or https URL without a path, such as https://domains.example.com',
    parse: (text) => (text === '' ? null : parsePublicUrl(text)),
  },
  smtp: {
    name: 'DOMAINDEX_SMTP',
    defaultText: '',
    meaning:
      'The SMTP server for mail, with its user and password. With it, people can sign up, set a new password and get events ' +
      'by mail. It needs `DOMAINDEX_PUBLIC_URL` and `DOMAINDEX_MAIL_FROM`.',
    allowed: 'a URL such as smtps://user:password@mail.example.com, or smtp://127.0.0.1:25',
    isSecret: true,
    parse: (text) => (text === '' ? null : isSmtpUrl(text) ? text : undefined),
  },
  mailFrom: {
    name: 'DOMAINDEX_MAIL_FROM',
    defaultText: '',
    meaning: 'The sender of mail.',
    allowed: 'an email address such as domaindex@example.com',
    parse: (text) => (text === '' ? null : (parseEmail(text) ?? undefined)),
  },
}

function parsePublicUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, origin, pathname, search, hash, username, password } = new URL(text)
  const isPlain = pathname === '/' && search + hash + username + password === ''
  return isPlain && (protocol === 'https:' || protocol === 'http:') ? origin : undefined
}

function isSmtpUrl(text: string): boolean {
  return /^smtps?:\/\/./.test(text) && URL.canParse(text)
}

/** How to send mail; null if it is not set. Throws CommandFault if a part is missing. */
export function mailSettings({ smtp, mailFrom, publicUrl }: WebSettings) {
  if (smtp === null) return null
  if (mailFrom === null || publicUrl === null)
    throw new CommandFault('DOMAINDEX_SMTP needs DOMAINDEX_PUBLIC_URL and DOMAINDEX_MAIL_FROM: set both')
  return { smtp, from: mailFrom, publicUrl }
}

/** The address of the web page, without a slash at its end: the public one, or that of the listener. */
export function publicAddress({
  publicUrl,
  host,
  port,
}: Pick<WebSettings, 'publicUrl'> & { host: string; port: number }): string {
  const isAny = host === '0.0.0.0' || host === '::'
  const name = isAny ? '127.0.0.1' : host
  return publicUrl ?? `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
