/** The actors of changes that no account makes: the store itself and the user of the operating system. */

import { hostname, userInfo } from 'node:os'
import type { Actor } from '../../accounts/audit.ts'

/** The actor of changes that the store makes on its own, such as its first secret. */
export const STORE_ACTOR: Actor = actorOf('the store itself')

/** The user of the operating system that runs this process, as `user@host`, through `origin`. */
export function actorOf(origin: string): Actor {
  return { user: `${operatingSystemUser()}@${hostname()}`, origin }
}

/** Includes the user who called sudo. A user without an entry in the system's user list has only a number. */
function operatingSystemUser(): string {
  const sudoUser = process.env.SUDO_USER
  try {
    const { username } = userInfo()
    return sudoUser === undefined || sudoUser === username ? username : `${username} (sudo by ${sudoUser})`
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
