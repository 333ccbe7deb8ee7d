/** A folder of registrations with a store and a test clock, and imports of generated zones and lists. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type {
  RegistrationImportOptions,
  RegistrationImportResult,
  RejectedEntry,
} from '../../src/registrations/import-options.ts'
import { importList } from '../../src/registrations/list/import-list.ts'
import { importNames } from '../../src/registrations/list/import-names.ts'
import { openRegistrations } from '../../src/registrations/registrations.ts'
import { importZone } from '../../src/registrations/zone/import-zone.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import { type Day, type Instant, parseDay } from '../../src/values/time.ts'

/** Noon of 2026-11-20. */
export const NOW: Instant = Date.UTC(2026, 10, 20, 12) / 1000

export const day = (text: string): Day => parseDay(text)!

/** The elements of the first set that are not in the second. */
export const without = (first: ReadonlySet<string>, second: ReadonlySet<string>): string[] =>
  [...first].filter((each) => !second.has(each))

/** The text of a zone with these delegations. */
export const zoneOf = (labels: Iterable<string>, zone = 'test'): string =>
  [`${zone}. SOA a. b. 1 2 3 4 5`, ...[...labels].map((label) => `${label}.${zone}. NS ns.example.`), ''].join('\n')

export async function makeWorld(t: TestContext, url?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-registrations-'))
  let now = NOW
  const store: Store = await openStore(url ?? `sqlite:${join(folder, 'store.db')}`, {
    access: 'write',
    ledger: 'own',
    secret: null,
    now: () => now,
  })
  t.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const root = join(folder, 'zones')
  const rejects: RejectedEntry[] = []
  const taking: RegistrationImportOptions = {
    root,
    store,
    signal: new AbortController().signal,
    isStrict: false,
    acceptsLoss: false,
    onReject: (reject) => rejects.push(reject),
    onLines() {},
    onNames() {},
  }
  const all = async (names: AsyncIterable<readonly string[]>): Promise<string[]> => {
    const found: string[] = []
    for await (const batch of names) found.push(...batch)
    return found
  }
  const registrations = openRegistrations(root)
  return {
    folder,
    root,
    store,
    taking,
    rejects,
    registrations,
    setTime: (time: Instant) => {
      now = time
    },
    takeZone: (
      text: string,
      on: string,
      given: Partial<RegistrationImportOptions> = {},
    ): Promise<RegistrationImportResult> =>
      importZone({ ...taking, ...given }, { path: '-', bytes: bytes(text), day: day(on), zone: null }),
    takeList: (text: string, on: string, name: string | null = null): Promise<RegistrationImportResult> =>
      importList(taking, { path: '-', bytes: bytes(text), day: day(on), name }),
    learnList: (text: string, given: Partial<RegistrationImportOptions> = {}) =>
      importNames({ ...taking, ...given }, bytes(text)),
    registered: (on: string) => all(registrations.registered(day(on))),
    dropped: (on: string) => all(registrations.dropped(day(on))),
    /** Each source of a day with its digest; null without sources. */
    async digest(on: string): Promise<string | null> {
      const sources = await registrations.sources(day(on))
      return sources.length === 0 ? null : sources.map(({ source, digest }) => `${source} ${digest}`).join()
    },
    /** All files of the folder with their content, without times. */
    files: () => filesOf(root),
  }
}

export type World = Awaited<ReturnType<typeof makeWorld>>

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** Every file with its content, by path, without the names of writers and the times of imports. */
export function filesOf(root: string): [path: string, content: string][] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const plain = (text: string): string =>
    text.replace(/\.[a-z0-9-]+\.\d+\.[0-9a-f]{12}/g, '').replace(/"imported":\d+/, '')
  return entries
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path): [string, string] => [plain(path.slice(root.length)), plain(readFileSync(path, 'latin1'))])
    .sort(([a, one], [b, other]) => (`${a} ${one}` < `${b} ${other}` ? -1 : 1))
}
