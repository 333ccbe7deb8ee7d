/**
 * The tokens that `domaindex login` keeps: a file in the folder for configuration of the user, one token per server.
 */

import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageFault } from '../../config/command-fault.ts'
import { isObject } from '../../values/json-object.ts'
import { ClientFault } from '../program/client-fault.ts'

/** The bits of a file mode that give others access. */
const OTHERS_MASK = 0o077
const MAX_TOKEN_LENGTH = 256

type Tokens = Record<string, string>

/** The address of a server as the key of its token. Throws UsageFault if it is none. */
export function serverKey(server: string): string {
  const { origin, pathname } = new URL(server)
  return `${origin}${pathname.replace(/\/+$/, '').replace(/\/v1\.0$/, '')}`
}

/** The path of the file (XDG Base Directory Specification). */
export function tokensPath(): string {
  const { XDG_CONFIG_HOME: folder } = process.env
  return join(folder?.startsWith('/') ? folder : join(homedir(), '.config'), 'domaindex', 'tokens.json')
}

/** The kept token of a server; null if there is none. */
export function readKeptToken(server: string): string | null {
  return readTokens()[serverKey(server)] ?? null
}

/** Keeps the token of a server, or removes it if `token` is null. The file is replaced by a rename. */
export function keepToken(server: string, token: string | null): void {
  const path = tokensPath()
  const { [serverKey(server)]: _replaced, ...others } = readTokens()
  const tokens = token === null ? others : { ...others, [serverKey(server)]: token }
  const temporary = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(temporary, `${JSON.stringify(tokens, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    chmodSync(temporary, 0o600)
    renameSync(temporary, path)
  } finally {
    rmSync(temporary, { force: true })
  }
}

function readTokens(): Tokens {
  const path = tokensPath()
  const text = readPrivateFile(path)
  if (text === null) return {}
  try {
    const tokens: unknown = JSON.parse(text)
    if (isObject(tokens)) return tokens as Tokens
  } catch {
    // the error below says what to do
  }
  throw new ClientFault(`${path} is not what domaindex login writes: remove it and log in again`, 'token')
}

/** The token in the first line of a file that only its owner can read. */
export function readTokenFile(path: string): string {
  const text = readPrivateFile(path)
  if (text === null) throw new UsageFault(`--token-file ${path}: there is no such file`)
  const [token = ''] = text.trim().split(/\r?\n/, 1)
  if (token === '' || token.length > MAX_TOKEN_LENGTH)
    throw new ClientFault(`--token-file ${path}: its first line is no token`, 'token')
  return token
}

/** The text of a file; null if there is none. Throws ClientFault if others than its owner have access to it. */
function readPrivateFile(path: string): string | null {
  const status = statSync(path, { throwIfNoEntry: false })
  if (status === undefined) return null
  if (process.platform !== 'win32' && (status.mode & OTHERS_MASK) !== 0)
    throw new ClientFault(`${path} contains a token, but others have access to it: run chmod 600 ${path}`, 'token')
  return readFileSync(path, 'utf8')
}
