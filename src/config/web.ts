/** The settings of the web page. */

import { parseSwitch, type Setting } from './parse.ts'

export type WebSettings = {
  /** Whether the server has a web page. */
  web: boolean
  /** The address that users see, without a slash at its end; null: the host that they request. */
  publicUrl: string | null
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
}

function parsePublicUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, origin, pathname, search, hash, username, password } = new URL(text)
  const isPlain = pathname === '/' && search + hash + username + password === ''
  return isPlain && (protocol === 'https:' || protocol === 'http:') ? origin : undefined
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
