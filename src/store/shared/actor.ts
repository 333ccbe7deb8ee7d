/** Who makes the changes that a process makes for itself or for its user. */

import { hostname, userInfo } from 'node:os'
import type { Actor } from '../../accounts/audit.ts'

/** Who acts if the store changes something by itself, such as its first secret. */
export const STORE_ACTOR: Actor = actorOf('the store itself')

/** The user of the operating system that runs this process, as `user@host`, through `origin`. */
export function actorOf(origin: string): Actor {
  return { user: `${operatingSystemUser()}@${hostname()}`, origin }
}

/** With the user who called sudo, as sudo tells it. A user without an entry in the system's list has a number only. */
function operatingSystemUser(): string {
  const { SUDO_USER: sudo } = process.env
  try {
    const { username } = userInfo()
    return sudo === undefined || sudo === username ? username : `${username} (sudo by ${sudo})`
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
