/**
 * Converts the labels of the sample URLs to accounts. The labels were made for the patterns of three other libraries.
 */

export type Vector = {
  source: string
  url: string
  network: string
  type?: string
  expect?: Record<string, string> | null
  valid?: boolean
  username?: string
  note?: string
}

/** The account of a URL. `network`: null if the URL is not an account. `username`: null if the label has none. */
export type Label = { network: string | null; username: string | null }

const NETWORKS = new Map(
  'facebook instagram linkedin youtube tiktok pinterest discord github reddit snapchat vimeo medium telegram xing'
    .split(' ')
    .map((network) => [network, network]),
).set('twitter', 'x')

const ACCOUNTS = ['profile', 'profile by id', 'user', 'user by id', 'company', 'channel', 'profile_pub']
const USERNAMES = [
  'profile',
  'id',
  'username',
  'company_permalink',
  'permalink',
  'permalink_pub',
  'login',
  'user_id',
  'slug',
]

/** Returns null if the label does not tell whether the URL is an account. */
export function labelOf(vector: Vector): Label | null {
  const network = NETWORKS.get(vector.network)
  if (network === undefined || !/[./]/.test(vector.url)) return null
  return vector.source === 'lorey' ? labelOfTyped(vector, network) : labelOfPattern(vector, network)
}

/** Each row tests one kind of URL. A null `expect` only means that the URL is not of that kind. */
function labelOfTyped({ type = '', expect, url }: Vector, network: string): Label | null {
  const isAccount = ACCOUNTS.includes(type)
  if (!expect) return isAccount && !/\/r\/|github\.com\/.+\/./.test(url) ? { network: null, username: null } : null
  if (!isAccount) return { network: null, username: null }
  const key = USERNAMES.find((each) => expect[each] !== undefined)
  const username = key === undefined ? null : (expect[key] ?? null)
  return { network, username: network === 'vimeo' ? `user${username}` : username }
}

/**
 * `valid` is what a pattern matches. The patterns reject URLs with a query although they lead to the account, and
 * accept posts, videos and pins. This function corrects both.
 */
function labelOfPattern({ valid, username, url }: Vector, network: string): Label | null {
  if (valid === false && /\?param=/.test(url)) return null
  if (/\/(?:video|embed|pin|v|trending)\b|\/watch\?|youtu\.be\//.test(url)) return { network: null, username: null }
  if (valid === false) return { network: null, username: null }
  return { network, username: username === undefined ? null : plainUsername(username, network) }
}

/** Returns the username in what the libraries call a username, which is often the whole path. */
function plainUsername(username: string, network: string): string | null {
  if (network === 'discord')
    return /^discord(?:app)?\.com\/channels\/(\d+)/.exec(username)?.[1] ?? username.split('/').at(-1)!
  if (network === 'pinterest') return username.split('/')[0]!
  return username.replace(/^.*[=/]|^@/, '')
}
