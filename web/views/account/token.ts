/** A token as the server lists it: never the token itself. */

export type ListedToken = {
  id: number
  name: string
  hint: string
  created: string
  last_used: string | null
  expires: string | null
  revoked: string | null
  /** Calls today. */
  today: number
}
