/** Every setting once: its name, its default, what it means, what it may be, and how its text is read. */

import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { maskedText } from '../store/port/url.ts'
import { closestWord } from '../values/closest-word.ts'
import { CRAWL_SETTINGS, type CrawlSettings } from './crawl.ts'
import { JOB_SETTINGS, type JobSettings } from './jobs.ts'
import { LIMIT_SETTINGS, type LimitSettings } from './limits.ts'
import {
  isAddressRange,
  isOrigin,
  type ListenAddress,
  parseHostSetting,
  parseList,
  parseListener,
  parseWholeNumber,
  type Setting,
} from './parse.ts'
import { NAMES_SETTINGS, type NamesSettings } from './sources.ts'
import { applyLedgerPaths, STORE_SETTINGS, type StoreSettings } from './store.ts'

export type { ListenAddress as Listener } from './parse.ts'

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

type GroupedSettings = CrawlSettings & LimitSettings & NamesSettings & JobSettings & StoreSettings

/** All settings, read. */
export type Settings = GroupedSettings & {
  /** Connections to PostgreSQL of a process. */
  pool: number
  files: string
  /** The path of the file that changes the limits of the plans. Null: there is none. */
  plans: string | null
  /** Of each edition. */
  snapshotsKept: number
  host: string
  /** 0: any free port. */
  port: number
  /** Null: no admin listener. */
  admin: ListenAddress | null
  workers: number
  /** Null: the store's own. */
  secret: string | null
  /** Addresses and ranges (`10.0.0.0/8`) whose X-Forwarded-For counts. */
  trustedProxies: readonly string[]
  /** The origins that may read answers; `*` for all, an empty list for none. */
  cors: '*' | readonly string[]
  logLevel: LogLevel
  /** Whether this installation's server keeps the index of /similar. */
  index: boolean
}

export const SETTINGS: { readonly [Key in keyof Settings]: Setting<Settings[Key]> } = {
  ...STORE_SETTINGS,
  pool: {
    name: 'DOMAINDEX_POOL',
    defaultText: '8',
    meaning:
      'How many connections to PostgreSQL a process has, at most; a server has as many processes as workers, one more, and one each for the nights, the index and the crawl.',
    allowed: 'a whole number from 2 to 1000',
    parse: (text) => parseWholeNumber(text, 2, 1_000),
  },
  files: {
    name: 'DOMAINDEX_FILES',
    defaultText: 'data/files',
    meaning: 'The folder of the finished daily and snapshot files.',
    allowed: 'the path of a folder',
    parse: (text) => text,
  },
  plans: {
    name: 'DOMAINDEX_PLANS',
    defaultText: '',
    meaning:
      'A JSON file that changes the limits of the plans free, basic and premium. It is read when a command starts.',
    allowed: 'the path of a file',
    parse: (text) => (text === '' ? null : text),
  },
  snapshotsKept: {
    name: 'DOMAINDEX_SNAPSHOTS_KEPT',
    defaultText: '7',
    meaning:
      'How many snapshots of each edition stay in that folder; older ones are removed when a newer one is there.',
    allowed: 'a whole number from 1 to 10000',
    parse: (text) => parseWholeNumber(text, 1, 10_000),
  },
  host: {
    name: 'DOMAINDEX_HOST',
    defaultText: '127.0.0.1',
    meaning: 'The address that the API listens on; `0.0.0.0` or `::` for every one of the machine.',
    allowed: 'an IP address or a host name, without scheme and port',
    parse: parseHostSetting,
  },
  port: {
    name: 'DOMAINDEX_PORT',
    defaultText: '8080',
    meaning: 'The port that the API listens on; 0 takes any that is free.',
    allowed: 'a whole number from 0 to 65535',
    parse: (text) => parseWholeNumber(text, 0, 65_535),
  },
  admin: {
    name: 'DOMAINDEX_ADMIN',
    defaultText: '127.0.0.1:9090',
    meaning: 'Where the admin listener (metrics) listens. It asks for no token: keep it off the internet.',
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
    meaning: 'What cursors, sessions and links are signed with. Unset, the store makes one and keeps it.',
    allowed: 'a text of at least 32 characters; to replace one, the new one, a comma and the former one',
    isSecret: true,
    parse: (text) => (text === '' ? null : text.length >= 32 ? text : undefined),
  },
  trustedProxies: {
    name: 'DOMAINDEX_TRUSTED_PROXIES',
    defaultText: '',
    meaning: 'The proxies in front of the service, whose X-Forwarded-For counts. Unset: none.',
    allowed: 'addresses and ranges separated by commas, such as 10.0.0.0/8,::1',
    parse: (text) => (text === '' ? [] : parseList(text, isAddressRange)),
  },
  cors: {
    name: 'DOMAINDEX_CORS',
    defaultText: '*',
    meaning: 'The web pages (their origins) that may read answers in a browser.',
    allowed: '*, off, or origins separated by commas, such as https://example.com',
    parse: (text) => (text === '*' ? '*' : text === 'off' ? [] : parseList(text, isOrigin)),
  },
  logLevel: {
    name: 'DOMAINDEX_LOG_LEVEL',
    defaultText: 'info',
    meaning: 'The least that is logged; `info` has a line for every request.',
    allowed: LOG_LEVELS.join(', '),
    parse: (text) => LOG_LEVELS.find((level) => level === text),
  },
  index: {
    name: 'DOMAINDEX_INDEX',
    defaultText: 'on',
    meaning:
      'Whether `serve` keeps the index of /similar, in a process of its own. Of several servers on one store one does, and the others stand by.',
    allowed: 'on or off',
    parse: (text) => (text === 'on' ? true : text === 'off' ? false : undefined),
  },
  ...LIMIT_SETTINGS,
  ...NAMES_SETTINGS,
  ...JOB_SETTINGS,
  ...CRAWL_SETTINGS,
}

/** Settings that may not be what they are: a line for each. */
export class SettingsFault extends Error {
  override name = 'SettingsFault'
}

type Environment = Readonly<Record<string, string | undefined>>

/** The settings of an environment; an empty text counts as unset. Throws SettingsFault. */
export function readSettings(environment: Environment): Settings {
  const read: Partial<Record<keyof Settings, unknown>> = {}
  const faults: string[] = []
  for (const [key, setting] of Object.entries(SETTINGS) as [keyof Settings, Setting<unknown>][]) {
    const given = environment[setting.name] || setting.defaultText
    const value = setting.parse(given)
    if (value === undefined) faults.push(invalidSettingMessage(setting, given))
    read[key] = value
  }
  const settings = read as Settings
  faults.push(...applyLedgerPaths(settings))
  if (faults.length > 0) throw new SettingsFault(faults.join('\n'))
  return settings
}

/**
 * The settings of this process: `.env` of the working directory is read first, where a variable that is set already wins.
 * Variables that look like settings and are none are told to `warn`, a line each. Throws SettingsFault.
 */
export function loadSettings(warn: (line: string) => void = console.error): Settings {
  if (existsSync('.env')) process.loadEnvFile()
  for (const line of unknownSettings(process.env)) warn(`domaindex: ${line}`)
  return readSettings(process.env)
}

/** A line for every variable whose name begins like a setting's and is none, with the setting that comes closest. */
export function unknownSettings(environment: Environment): string[] {
  const names = Object.values(SETTINGS).map(({ name }) => name)
  return Object.keys(environment)
    .filter((name) => name.startsWith('DOMAINDEX_') && !names.includes(name))
    .map((name) => `${name} is no setting and is ignored; did you mean ${closestWord(name, names)}?`)
}

function invalidSettingMessage({ name, allowed: may, isSecret, show }: Setting<unknown>, given: string): string {
  const words = isSecret
    ? 'the one given is not'
    : `it is ${JSON.stringify(show ? maskedText(given) : redactUrlUser(given))}`
  return `${name} must be ${may}; ${words}`
}

/** The text without what stands before the `@` of a URL: it may be a password. */
function redactUrlUser(text: string): string {
  return text.replace(/\/\/.*@/gs, '//…@')
}

/** The text of a setting as it may be shown. */
export function displayText({ isSecret, show }: Pick<Setting<unknown>, 'isSecret' | 'show'>, text: string): string {
  if (isSecret) return text === '' ? 'unset' : 'set'
  return show ? show(text) : text
}
