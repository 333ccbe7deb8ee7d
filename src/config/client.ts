/** The settings of the client commands, such as `domaindex lookup`. */

import type { Setting } from './parse.ts'

export type ClientSettings = {
  /** The address of the server that the client commands ask; null: they answer from the local store. */
  clientServer: string | null
  clientToken: string | null
}

export const CLIENT_SETTINGS: { readonly [Key in keyof ClientSettings]: Setting<ClientSettings[Key]> } = {
  clientServer: {
    name: 'DOMAINDEX_SERVER',
    defaultText: '',
    meaning:
      'The server that `lookup`, `redirect`, `reverseip`, `dnshistory`, `similar`, `domain`, `ip`, `daily`, `snapshot` and `quota` ask. ' +
      'By default they answer from the store of this machine.',
    allowed: 'an http or https URL without user and query, such as https://domains.example.com',
    parse: (text) => (text === '' ? null : isServerUrl(text) ? text : undefined),
  },
  clientToken: {
    name: 'DOMAINDEX_TOKEN',
    defaultText: '',
    meaning: 'The API token for that server. By default the one that `domaindex login` keeps.',
    allowed: 'an API token, without spaces',
    isSecret: true,
    parse: (text) => (text === '' ? null : /^[!-~]{1,256}$/.test(text) ? text : undefined),
  },
}

export function isServerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return (protocol === 'https:' || protocol === 'http:') && `${username}${password}${search}${hash}` === ''
}
