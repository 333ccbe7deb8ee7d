/** Helpers for tests that build files: runs a build and reads its result. */

import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import { buildDaily, type DailyBuild } from '../../src/jobs/daily.ts'
import { type FileManifest, type FileName, fileName } from '../../src/jobs/file-store/file-store.ts'
import type { BuildContext } from '../../src/jobs/publish.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { addDays, type Day } from '../../src/values/time.ts'
import type { World } from '../spec/world.ts'
import { readAll, sha256 } from './file-store/conformance.ts'

export const DAY = '2026-11-19' as Day

export function runOf(given: Partial<BuildContext> = {}): BuildContext {
  return { signal: new AbortController().signal, requireLock: async () => {}, onRows: () => {}, threads: 1, ...given }
}

/** Yields the given batches of names. */
export async function* batchesOf(...batches: readonly string[][]): AsyncGenerator<DomainName[]> {
  yield* batches as DomainName[][]
}

type Given = Partial<Omit<DailyBuild, 'names'>> & { run?: Partial<BuildContext> }

export function makeDaily({ fileStore, store, clock }: World, day: Day, names: readonly string[], given: Given = {}) {
  const { run, ...rest } = given
  const build = {
    fileStore,
    observations: store.observations,
    qualityBounds: { min: 0.2, max: 5, minDifference: 5 },
    release: false,
    now: clock.now,
    ...rest,
  }
  return buildDaily(day, { ...build, names: batchesOf([...names]) }, runOf(run))
}

/** Names whose byte order is their count. */
export const some = (count: number, word = 'name'): string[] =>
  Array.from({ length: count }, (_, n) => `${word}${String(n).padStart(6, '0')}.example`)

/** Builds the files of the days before DAY with these numbers of rows. The last one is that of the day before. */
export async function makeDays(world: World, rows: readonly number[]): Promise<void> {
  for (const [place, count] of rows.entries())
    await makeDaily(world, addDays(DAY, place - rows.length), some(count, `day${place}`), { qualityBounds: null })
}

/** Returns the unpacked content of a file, which must match its manifest. */
export async function textOf({ fileStore }: World, name: FileName = fileName('daily', DAY)): Promise<string> {
  const opened = await fileStore.open(name)
  assert.ok(opened, name)
  const packed = await readAll(opened)
  await opened.close()
  const { manifest } = opened
  const plain = gunzipSync(packed)
  assert.deepEqual([manifest.bytes, manifest.sha256], [packed.length, sha256(packed)])
  assert.deepEqual([manifest.plain_bytes, manifest.plain_sha256], [plain.length, sha256(plain)])
  return plain.toString()
}

/** The fields of a manifest that describe the content of a daily file. */
export const figures = ({ rows, first, last, ratio, listed_before, held }: FileManifest) => ({
  rows,
  first,
  last,
  ratio,
  listed_before,
  held,
})
