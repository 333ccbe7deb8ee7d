/** The rules of a network: which URLs stand for an account, and their canonical form. */

export type AccountRule = {
  /** The network, with `_kind` if the form of the URL shows the kind. */
  type: string
  /** Matches the decoded path without leading and trailing slashes. Its group is the username. */
  path: RegExp
  /** The query parameter that holds the username, if the path does not. */
  parameter?: string
  /** The pattern of the username, if it differs from the network's pattern. */
  username?: RegExp
  /** The canonical URL: `*` stands for the username, `~` for the whole path. */
  url: string
  /** The username is a telephone number, of which only the digits count. */
  phone?: true
  /** Usernames are case-sensitive. */
  exact?: true
}

export type SocialNetwork = {
  network: string
  /** Each host also matches with a prefix such as `www.` or `m.`, or with a language. */
  hosts: readonly string[]
  /** The rule for `username.HOST/`, if the network has such URLs. Its path pattern matches the username. */
  below?: AccountRule
  username: RegExp
  /** Last path segments that show another view of the same account, not a post, photo or video. */
  tabs?: RegExp
  /** Path segments in the position of a username that are not one: sharing, signing in, posts, help. Lower case. */
  reserved: ReadonlySet<string>
  /** Tried in this order. */
  rules: readonly AccountRule[]
}

export const NUMERIC_ID = /^\d{3,20}$/
export const INVITE_CODE = /^[\w-]{2,64}$/

/** Splits a line into a set of words. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}
