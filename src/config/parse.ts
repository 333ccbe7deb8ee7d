/** Parses the texts of settings. Every parser returns undefined if the text is not allowed. */

import { isValidStoreUrl } from '../store/engines.ts'
import { addressFamily, type IpAddress, parseAddress } from '../values/ip-address.ts'
import { SECONDS_PER_DAY } from '../values/time.ts'

/** One setting. `parse` returns undefined if the text is not allowed. */
export type Setting<Value> = {
  name: string
  defaultText: string
  meaning: string
  allowed: string
  isSecret?: true
  /** Removes what must stay secret from the text, such as a password in a URL. */
  show?: (text: string) => string
  parse: (text: string) => Value | undefined
}

/** The address on which a server listens. */
export type ListenAddress = { host: string; port: number }

const UNIT_SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: SECONDS_PER_DAY }
const MAX_DURATION_SECONDS = 3_650 * SECONDS_PER_DAY
const MAX_RATE = 100_000

export function parseStoreUrl(text: string): string | undefined {
  return isValidStoreUrl(text) ? text : undefined
}

export function parseWholeNumber(text: string, min: number, max: number): number | undefined {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1
  return value >= min && value <= max ? value : undefined
}

export function parseSwitch(text: string): boolean | undefined {
  return text === 'on' ? true : text === 'off' ? false : undefined
}

export function parseHostSetting(text: string): string | undefined {
  const isName = /^(?=.{1,253}$)[a-z\d_]([a-z\d_-]*[a-z\d_])?(\.[a-z\d_]([a-z\d_-]*[a-z\d_])?)*$/i.test(text)
  return isName || parseAddress(text) !== null ? text : undefined
}

export function parseListener(text: string): ListenAddress | undefined {
  const [, bracketed, plain, digits = ''] = /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(text) ?? []
  const host = parseHostSetting(bracketed ?? plain ?? '')
  const port = parseWholeNumber(digits, 0, 65_535)
  return host === undefined || port === undefined ? undefined : { host, port }
}

export function parseList(text: string, fits: (item: string) => boolean): string[] | undefined {
  const items = text.split(',').map((item) => item.trim())
  return items.every(fits) ? items : undefined
}

/** Whether a text is an address, with or without a prefix length. */
export function isAddressRange(text: string): boolean {
  const [, address = '', length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const parsed: IpAddress | null = parseAddress(address)
  return parsed !== null && (length === undefined || Number(length) <= (addressFamily(parsed) === 4 ? 32 : 128))
}

export function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text
}

/** Seconds from a whole number of minutes, hours or days, such as `90m`, `12h` or `30d`; 3,650 days at most. */
export function parseDuration(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^([1-9]\d{0,6})([mhd])$/.exec(text) ?? []
  const seconds = Number(digits) * (UNIT_SECONDS[unit] ?? Number.NaN)
  return seconds <= MAX_DURATION_SECONDS ? seconds : undefined
}

/** A number from 0.001 to 100,000. */
export function parseRate(text: string): number | undefined {
  const value = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : 0
  return value > 0 && value <= MAX_RATE ? value : undefined
}

/**
 * Whether a text is a contact: printable ASCII without the characters that end a comment in a User-Agent (RFC 9110,
 * section 5.6.5), and without a password, because everybody can read it.
 */
export function isContact(text: string): boolean {
  if (!/^[!-~]{3,200}$/.test(text) || /[()\\]/.test(text)) return false
  return /^https?:\/\//i.test(text) ? URL.canParse(text) && !hasUser(new URL(text)) : /^[^@:/]+@[^@:/]+$/.test(text)
}

function hasUser({ username, password }: URL): boolean {
  return username !== '' || password !== ''
}
