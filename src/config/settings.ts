/** All settings: name, default, meaning, allowed values and parser; and the nearest name of a misspelt one. */

import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { FORGOTTEN_FILES, type ForgottenFiles } from '../jobs/file-store/forgotten-files.ts'
import { type FileStoreSettings, isFileLocation } from '../jobs/file-store/location.ts'
import { maskedText } from '../store/port/url.ts'
import { CLIENT_SETTINGS, type ClientSettings } from './client.ts'
import { CRAWL_SETTINGS, type CrawlSettings } from './crawl.ts'
import { DELIVERY_SETTINGS, type DeliverySettings } from './delivery.ts'
import { JOB_SETTINGS, type JobSettings } from './jobs.ts'
import { LIMIT_SETTINGS, type LimitSettings } from './limits.ts'
import {
  isAddressRange,
  isOrigin,
  type ListenAddress,
  parseHostSetting,
  parseList,
  parseListener,
  parseSwitch,
  parseWholeNumber,
  type Setting,
} from './parse.ts'
import { RETENTION_SETTINGS, type RetentionSettings } from './retention.ts'
import { NAMES_SETTINGS, type NamesSettings } from './sources.ts'
import { applyLedgerPaths, STORE_SETTINGS, type StoreSettings } from './store.ts'
import { WEB_SETTINGS, type WebSettings } from './web.ts'

type FileSettings = FileStoreSettings & {
  /** The path of the file that changes the limits of the plans. Null: there is none. */
  plans: string | null
  /** The number of snapshots of each edition that are kept. */
  snapshotsKept: number
  /** Whether snapshots are built as Parquet too. */
  snapshotParquet: boolean
  /** What `forget` does with finished files that have a forgotten name. */
  forgottenFiles: ForgottenFiles
}

/** The settings of the finished files and of the plans. */
const FILE_SETTINGS: { readonly [Key in keyof FileSettings]: Setting<FileSettings[Key]> } = {
  files: {
    name: 'DOMAINDEX_FILES',
    defaultText: 'data/files',
    meaning:
      'Where the finished daily files, follow-up files and snapshots are: a folder, or a place in S3. ' +
      'Servers that share a store share these files too.',
    allowed:
      "a folder path, or s3://BUCKET/PREFIX without user and password; PREFIX may have letters, digits and !-_.*'()=/",
    parse: (text) => (isFileLocation(text) ? text : undefined),
  },
  filesEndpoint: {
    name: 'DOMAINDEX_FILES_ENDPOINT',
    defaultText: '',
    meaning: 'The server of S3, if DOMAINDEX_FILES is in S3. By default that of Amazon in DOMAINDEX_FILES_REGION.',
    allowed: 'an http:// or https:// URL without a path',
    parse: (text) => (text === '' ? null : isOrigin(text) ? text : undefined),
  },
  filesRegion: {
    name: 'DOMAINDEX_FILES_REGION',
    defaultText: 'us-east-1',
    meaning:
      'The region of the bucket, if DOMAINDEX_FILES is in S3. Servers other than those of Amazon often ignore it.',
    allowed: 'letters, digits and hyphens, such as eu-central-1',
    parse: (text) => (/^[a-z\d-]{1,40}$/i.test(text) ? text : undefined),
  },
  plans: {
    name: 'DOMAINDEX_PLANS',
    defaultText: '',
    meaning:
      'A JSON file that changes the limits of the plans free, basic and premium. A command reads it when it starts.',
    allowed: 'a file path',
    parse: (text) => (text === '' ? null : text),
  },
  snapshotsKept: {
    name: 'DOMAINDEX_SNAPSHOTS_KEPT',
    defaultText: '7',
    meaning: 'How many snapshots of each edition are kept. A new snapshot replaces the oldest one.',
    allowed: 'a whole number from 1 to 10000',
    parse: (text) => parseWholeNumber(text, 1, 10_000),
  },
  snapshotParquet: {
    name: 'DOMAINDEX_SNAPSHOT_PARQUET',
    defaultText: 'off',
    meaning: 'Whether each snapshot is also built as Parquet. `/files` lists these files, and delivers them.',
    allowed: 'on or off',
    parse: parseSwitch,
  },
  forgottenFiles: {
    name: 'DOMAINDEX_FORGET_FILES',
    defaultText: 'rebuild',
    meaning:
      'What `domaindex forget` does with finished files that have a forgotten name. rebuild: it replaces the file by ' +
      'one without the name. withdraw: it removes the file. keep: nothing.',
    allowed: FORGOTTEN_FILES.join(', '),
    parse: (text) => FORGOTTEN_FILES.find((each) => each === text),
  },
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

type GroupedSettings = ClientSettings &
  CrawlSettings &
  DeliverySettings &
  FileSettings &
  LimitSettings &
  NamesSettings &
  RetentionSettings &
  JobSettings &
  StoreSettings &
  WebSettings

/** The values of all settings. */
export type Settings = GroupedSettings & {
  /** The maximum number of PostgreSQL connections of a process. */
  pool: number
  host: string
  /** 0: any free port. */
  port: number
  /** Null: no admin listener. */
  admin: ListenAddress | null
  workers: number
  /** Null: the store keeps the secret. */
  secret: string | null
  /** Addresses and ranges (`10.0.0.0/8`) whose X-Forwarded-For header is trusted. */
  trustedProxies: readonly string[]
  /** The origins that may read responses; `*` for all, an empty list for none. */
  cors: '*' | readonly string[]
  logLevel: LogLevel
  /** Whether `serve` maintains the /similar index. */
  index: boolean
  /** Whether plain queries are answered without node:http. */
  directPath: boolean
}

export const SETTINGS: { readonly [Key in keyof Settings]: Setting<Settings[Key]> } = {
  ...STORE_SETTINGS,
  pool: {
    name: 'DOMAINDEX_POOL',
    defaultText: '8',
    meaning:
      'The maximum number of PostgreSQL connections of a process. ' +
      'A server has a primary, its workers, and one process each for scheduled jobs, the index, deliveries and the crawler.',
    allowed: 'a whole number from 2 to 1000',
    parse: (text) => parseWholeNumber(text, 2, 1_000),
  },
  ...FILE_SETTINGS,
  host: {
    name: 'DOMAINDEX_HOST',
    defaultText: '127.0.0.1',
    meaning: 'The address that the API listens on; `0.0.0.0` or `::` for all addresses of the machine.',
    allowed: 'an IP address or a host name, without scheme and port',
    parse: parseHostSetting,
  },
  port: {
    name: 'DOMAINDEX_PORT',
    defaultText: '8080',
    meaning: 'The port that the API listens on; 0 takes any free port.',
    allowed: 'a whole number from 0 to 65535',
    parse: (text) => parseWholeNumber(text, 0, 65_535),
  },
  admin: {
    name: 'DOMAINDEX_ADMIN',
    defaultText: '127.0.0.1:9090',
    meaning: 'The address of the admin listener (metrics). It requires no token, so keep it off the internet.',
    allowed: 'HOST:PORT, [IPV6]:PORT, or off',
    parse: (text) => (text === 'off' ? null : parseListener(text)),
  },
  workers: {
    name: 'DOMAINDEX_WORKERS',
    defaultText: String(availableParallelism()),
    meaning: 'How many processes answer requests. The default is the number of cores.',
    allowed: 'a whole number from 1 to 256',
    parse: (text) => parseWholeNumber(text, 1, 256),
  },
  secret: {
    name: 'DOMAINDEX_SECRET',
    defaultText: '',
    meaning: 'The secret that signs cursors, sessions and links. By default the store generates one and keeps it.',
    allowed: 'a text of at least 32 characters; to replace a secret, the new one, a comma and the former one',
    isSecret: true,
    parse: (text) => (text === '' ? null : text.length >= 32 ? text : undefined),
  },
  trustedProxies: {
    name: 'DOMAINDEX_TRUSTED_PROXIES',
    defaultText: '',
    meaning: 'The proxies in front of the service whose X-Forwarded-For header is trusted. By default none.',
    allowed: 'addresses and ranges separated by commas, such as 10.0.0.0/8,::1',
    parse: (text) => (text === '' ? [] : parseList(text, isAddressRange)),
  },
  cors: {
    name: 'DOMAINDEX_CORS',
    defaultText: '*',
    meaning: 'The origins whose web pages may read responses in a browser.',
    allowed: '*, off, or origins separated by commas, such as https://example.com',
    parse: (text) => (text === '*' ? '*' : text === 'off' ? [] : parseList(text, isOrigin)),
  },
  logLevel: {
    name: 'DOMAINDEX_LOG_LEVEL',
    defaultText: 'info',
    meaning: 'The lowest level that is logged; `info` logs a line for every request.',
    allowed: LOG_LEVELS.join(', '),
    parse: (text) => LOG_LEVELS.find((level) => level === text),
  },
  index: {
    name: 'DOMAINDEX_INDEX',
    defaultText: 'on',
    meaning:
      'Whether `serve` maintains the /similar index and the inverse index, in a child process. ' +
      'If no process does, look-ups of data become slow. ' +
      'If several servers share a store, one maintains the indexes and the others are on standby.',
    allowed: 'on or off',
    parse: parseSwitch,
  },
  directPath: {
    name: 'DOMAINDEX_DIRECT_PATH',
    defaultText: 'on',
    meaning:
      'Whether the API answers plain queries on a faster path than the HTTP server of Node. ' +
      'The responses are the same; switch it off to rule it out as the cause of a problem.',
    allowed: 'on or off',
    parse: parseSwitch,
  },
  ...WEB_SETTINGS,
  ...DELIVERY_SETTINGS,
  ...LIMIT_SETTINGS,
  ...NAMES_SETTINGS,
  ...JOB_SETTINGS,
  ...RETENTION_SETTINGS,
  ...CRAWL_SETTINGS,
  ...CLIENT_SETTINGS,
}

/** Invalid settings. The message has one line for each. */
export class SettingsFault extends Error {
  override name = 'SettingsFault'
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the settings from an environment. An empty variable counts as unset. Throws SettingsFault. */
export function readSettings(environment: Environment): Settings {
  const values: Partial<Record<keyof Settings, unknown>> = {}
  const faults: string[] = []
  for (const [key, setting] of Object.entries(SETTINGS) as [keyof Settings, Setting<unknown>][]) {
    const text = environment[setting.name] || setting.defaultText
    const value = setting.parse(text)
    if (value === undefined) faults.push(invalidSettingMessage(setting, text))
    values[key] = value
  }
  const settings = values as Settings
  faults.push(...applyLedgerPaths(settings))
  if (faults.length > 0) throw new SettingsFault(faults.join('\n'))
  return settings
}

/**
 * Reads the settings of this process. It loads `.env` of the working directory first. Variables that are already set
 * take precedence. It passes one line to `warn` for each variable that looks like a setting but is not one.
 * Throws SettingsFault.
 */
export function loadSettings(warn: (line: string) => void = console.error): Settings {
  if (existsSync('.env')) loadFile(resolve('.env'))
  for (const line of unknownSettings(process.env)) warn(`domaindex: ${line}`)
  return readSettings(process.env)
}

/** Node reports a file that may not be read as one that does not exist. */
function loadFile(path: string): void {
  try {
    process.loadEnvFile(path)
  } catch {
    throw new SettingsFault(`${path} cannot be read: run the command as its owner, or in another folder`)
  }
}

/** One line for each variable that has the prefix of settings but is not a setting. It suggests the closest setting. */
export function unknownSettings(environment: Environment): string[] {
  const names = Object.values(SETTINGS).map(({ name }) => name)
  return Object.keys(environment)
    .filter((name) => name.startsWith('DOMAINDEX_') && !names.includes(name))
    .map((name) => `${name} is not a setting and is ignored; did you mean ${closestWord(name, names)}?`)
}

function invalidSettingMessage({ name, allowed, isSecret, show }: Setting<unknown>, text: string): string {
  const current = isSecret
    ? 'its current value is not'
    : `it is ${JSON.stringify(show ? maskedText(text) : redactUrlUser(text))}`
  return `${name} must be ${allowed}; ${current}`
}

/** The text without the part of a URL before the `@`, which may contain a password. */
function redactUrlUser(text: string): string {
  return text.replace(/\/\/.*@/gs, '//…@')
}

/** The text of a setting without secrets, for display. */
export function displayText({ isSecret, show }: Pick<Setting<unknown>, 'isSecret' | 'show'>, text: string): string {
  if (isSecret) return text === '' ? 'unset' : 'set'
  return show ? show(text) : text
}

/** The word with the smallest edit distance, the first if several are equal; undefined if there are no words. */
function closestWord(text: string, words: readonly string[]): string | undefined {
  return words.toSorted((a, b) => editDistance(a, text) - editDistance(b, text))[0]
}

/** The smallest number of insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let previousRow: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let at = 0; at < a.length; at++) {
    const next = [at + 1]
    for (let index = 0; index < b.length; index++) {
      const isSwap = at > 0 && index > 0 && a[at] === b[index - 1] && a[at - 1] === b[index]
      const swapped = isSwap ? previousRow[index - 1]! + 1 : Number.POSITIVE_INFINITY
      const changed = row[index]! + (a[at] === b[index] ? 0 : 1)
      next.push(Math.min(row[index + 1]! + 1, next[index]! + 1, changed, swapped))
    }
    previousRow = row
    row = next
  }
  return row[b.length]!
}
