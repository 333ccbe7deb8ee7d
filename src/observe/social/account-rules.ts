/** What a network's rules are: which addresses stand for an account, and their one spelling. */

export type AccountRule = {
  /** The network, with `_kind` where the form of the address tells it. */
  type: string
  /** Of the decoded path without slashes at its ends; its group is the username. */
  path: RegExp
  /** Where the username stands in the query instead: that parameter. */
  parameter?: string
  /** What the username looks like, where it is not as the network's usernames are. */
  username?: RegExp
  /** The canonical address; `*` stands for the username, `~` for the whole path. */
  url: string
  /** The username is a telephone number, of which the digits count. */
  phone?: true
  /** Usernames that differ in letter case only are different ones. */
  exact?: true
}

export type SocialNetwork = {
  network: string
  /** Reached also under `www.`, `m.` and their like, or a language. */
  hosts: readonly string[]
  /** The rule for `username.HOST/`, where the network has such addresses; its path is matched by the username. */
  below?: AccountRule
  username: RegExp
  /** Last segments of paths that show another side of the same account: no post, photo or video. */
  tabs?: RegExp
  /** Where a username would stand, but none is: sharing, signing in, posts, help. In lower case. */
  reserved: ReadonlySet<string>
  /** In the order in which they are tried. */
  rules: readonly AccountRule[]
}

export const NUMERIC_ID = /^\d{3,20}$/
export const INVITE_CODE = /^[\w-]{2,64}$/

/** The words of a line, as a set. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}
