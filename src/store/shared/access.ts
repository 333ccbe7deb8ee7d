/** Whether a path exists, and whose it is if this process may not access it. */

import { accessSync, constants, readFileSync, type Stats, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'

/** Throws the error of the file system if this process may not know. */
export function pathExists(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw error
  }
}

/** Says which file or folder on the way to `path` denies access, whose it is, and what to do. */
export function accessDeniedMessage(path: string): string {
  const denying = denyingPart(path)
  const owner = statusOf(denying)?.uid
  const own = process.getuid?.()
  const start = `${path}: permission denied`
  if (owner === undefined || own === undefined) return start
  if (owner === own) return `${start}: ${denying} belongs to this user: change its permissions`
  const name = userName(owner)
  return (
    `${start}: ${denying} belongs to the user ${name ?? owner}, and this is the user ${userName(own) ?? own}: ` +
    `run the command as ${name ?? owner} (sudo -u ${name ?? `'#${owner}'`} …)`
  )
}

/** The first folder that may not be entered; otherwise the path itself, or its nearest existing parent folder. */
function denyingPart(path: string): string {
  const parent = dirname(path)
  if (parent === path) return path
  const above = denyingPart(parent)
  if (above !== parent || !mayEnter(parent)) return above
  return statusOf(path) === null ? parent : path
}

function mayEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function statusOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

/** From the file of the system; null for a user that only a directory service knows. */
function userName(id: number): string | null {
  try {
    if (id === process.getuid?.()) return userInfo().username
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
    return lines.map((line) => line.split(':')).find(([, , uid]) => uid === String(id))?.[0] ?? null
  } catch {
    return null
  }
}
