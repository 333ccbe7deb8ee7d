/** The test world: short functions for observations, and a store for the duration of one test. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../../src/apply/change.ts'
import type { DnsPart, Observation, WebPart } from '../../../src/observe/observation.ts'
import { type IngestOutcome, ingest } from '../../../src/store/ingest.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { type DomainName, parseName } from '../../../src/values/domain-name.ts'
import { type IpAddress, parseAddress } from '../../../src/values/ip-address.ts'
import { canonicalRecordSet, RECORD_TYPES, type RecordType } from '../../../src/values/records/dns-record.ts'
import { formatInstant, type Instant, parseInstant } from '../../../src/values/time.ts'
import { checkAll } from '../check-all.ts'
import type { Clock, Engine, Opened } from './engine.ts'

/** The time of every store's clock, unless a test sets it. */
export const NOW: Instant = parseInstant('2026-11-20T12:00:00Z')!

/** The n-th minute of the day of the tests. Minute 720 is now. */
export function minute(n: number): Instant {
  return parseInstant('2026-11-20T00:00:00Z')! + 60 * n
}

/** The n-th minute as responses write it. */
export function minuteText(n: number): string {
  return formatInstant(minute(n))
}

export function name(text: string): DomainName {
  const parsed = parseName(text)
  assert.ok(parsed !== null, `${text} is no name`)
  return parsed
}

export function address(text: string): IpAddress {
  const parsed = parseAddress(text)
  assert.ok(parsed !== null, `${text} is no address`)
  return parsed
}

/** The lists of a dns part in the format of an observation file. */
export type Lists = { [T in RecordType]?: readonly unknown[] | undefined }

/** A dns part of status ok. */
export function dns(lists: Lists): DnsPart {
  const records: Record<string, unknown> = {}
  for (const type of RECORD_TYPES) {
    if (lists[type] === undefined) continue
    const canonical = canonicalRecordSet(type, lists[type])
    assert.ok(typeof canonical !== 'string', String(canonical))
    records[type] = canonical
  }
  return { status: 'ok', records }
}

export const NXDOMAIN: DnsPart = { status: 'nxdomain', records: {} }
export const SERVFAIL: DnsPart = { status: 'servfail', records: {} }

/** A web part. By default nothing answers. */
export function web(part: Partial<Omit<WebPart, 'redirects_to'>> & { redirects_to?: string } = {}): WebPart {
  const { redirects_to, ...rest } = part
  return {
    has_website: false,
    redirect_to_https: false,
    redirect_to_www: false,
    only_with_www: false,
    ssl: 'nocert',
    social_accounts: [],
    text: null,
    ...rest,
    redirects_to: redirects_to === undefined ? null : name(redirects_to),
  }
}

export function redirecting(target: string): WebPart {
  return web({ redirects_to: target })
}

/** An observation of a domain in the n-th minute. */
export function seen(domain: string, at: number, dns: DnsPart | null, web: WebPart | null = null): Observation {
  return { domain: name(domain), observed_at: minute(at), dns, web }
}

/** An SOA record in file format. `refresh` distinguishes records that differ in other fields than the serial. */
export function soa(serial: number, refresh = 7200, server = 'ns.example'): object {
  return {
    primary_nameserver: server,
    admin_email: 'admin@example',
    serial,
    refresh_seconds: refresh,
    retry_seconds: 3600,
    expire_seconds: 1209600,
    minimum_ttl_seconds: 3600,
  }
}

/** Applies observations in batches of `size` and returns one outcome each. */
export async function ingestAll(
  store: Pick<Store, 'observations' | 'now'>,
  observations: readonly Observation[],
  size = 1000,
): Promise<IngestOutcome[]> {
  const outcomes: IngestOutcome[] = []
  for (let start = 0; start < observations.length; start += size) {
    outcomes.push(...(await ingest(store, observations.slice(start, start + size))))
  }
  return outcomes
}

/** Returns the changes that a batch would make now, without writing them. */
export async function changesOf(store: Store, batch: readonly Observation[]): Promise<Change[]> {
  const caught: Change[] = []
  const frontier: Store['observations'] = {
    ...store.observations,
    save: async (changes) => {
      caught.push(...changes)
      return { rejected: [], lost: [] }
    },
  }
  await ingest({ observations: frontier, now: () => store.now() }, batch)
  return caught
}

/** Returns everything that `check` reports. */
export async function faults(store: Store): Promise<unknown[]> {
  return (await checkAll(store)).faults
}

/** A test that gets an empty store. */
export function testUnchecked(
  engine: Engine,
  sentence: string,
  operation: (store: Store, opened: Opened, clock: Clock) => Promise<void>,
): void {
  test(sentence, async () => {
    const clock = { now: NOW }
    const opened = await engine.open(clock)
    try {
      await operation(opened.store, opened, clock)
    } finally {
      await opened.close()
    }
  })
}

/** A test that gets an empty store. Afterwards `check` must find nothing. */
export function testWithStore(...[engine, sentence, operation]: Parameters<typeof testUnchecked>): void {
  testUnchecked(engine, sentence, async (store, opened, clock) => {
    await operation(store, opened, clock)
    assert.deepEqual(await opened.check(), [])
  })
}
