/** The parts of `domaindex crawl` that need no internet: the list, the position in it, the observation file. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { UNKNOWN_NAME } from '../../../src/crawler/list/destination.ts'
import { type ListProgress, openListProgress } from '../../../src/crawler/list/list-progress.ts'
import type { ListCrawl } from '../../../src/crawler/list/list-source.ts'
import { crawlList } from '../../../src/crawler/list/list-source.ts'
import { createListCrawlTally } from '../../../src/crawler/list/list-tally.ts'
import { type ListEntry, nameListFromArguments, openNameList } from '../../../src/crawler/list/name-list.ts'
import { openObservationFile } from '../../../src/crawler/list/observation-file.ts'
import type { Observation } from '../../../src/observe/observation.ts'
import { parseObservation } from '../../../src/observe/observation-parser.ts'
import { makePolitenessLimiter } from '../../../src/probe/policy/politeness-limiter.ts'
import { SYSTEM_CLOCK } from '../../../src/server/system-clock.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import { folderOf } from '../../cli/run.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const never = new AbortController().signal

async function all(entries: AsyncIterable<ListEntry>): Promise<ListEntry[]> {
  const found: ListEntry[] = []
  for await (const entry of entries) found.push(entry)
  return found
}

const namesOf = (entries: readonly ListEntry[]) => entries.map(({ name }) => name)

/** Takes entries and finishes them, except those of the given lines. */
async function crawlSome(place: ListProgress, count: number, open: readonly number[] = []): Promise<(string | null)[]> {
  const taken: (string | null)[] = []
  for await (const entry of place.remainingEntries()) {
    if (taken.length === count) break
    taken.push(entry.name)
    place.startEntry(entry)
    if (entry.name !== null && !open.includes(entry.line)) place.finishEntry(entry)
  }
  return taken
}

suite('the list', { concurrency: 2 }, () => {
  test('has one name per line; empty lines, comments, ranks and white space are skipped, and invalid names are reported with line and reason', async (t) => {
    const { path } = folderOf(t)
    const text = '\ufeffExample.com\r\n\n# a comment\n 2,b.example. # another\nhttp://c.example/\nmünchen.example'
    writeFileSync(path('list'), text)
    for (const [name, bytes] of [
      ['list.gz', gzipSync(text)],
      ['list.zst', zstdCompressSync(text)],
    ] as const) {
      writeFileSync(path(name), bytes)
    }
    for (const name of ['list', 'list.gz', 'list.zst']) {
      const entries = await all(openNameList(path(name), never).entries)
      assert.deepEqual(
        entries.map(({ line, name }) => [line, name]),
        [
          [1, 'example.com'],
          [4, 'b.example'],
          [5, null],
          [6, 'xn--mnchen-3ya.example'],
        ],
      )
      assert.match((entries[2] as { reason: string }).reason, /scheme.*send c\.example/)
      assert.ok(entries.at(-1)!.share! > 0.5)
    }
    assert.deepEqual(namesOf(await all(nameListFromArguments(['A.example', 'b']).entries)), ['a.example', null])
  })

  test('is reported if it is unreadable or truncated', async (t) => {
    const { path } = folderOf(t)
    assert.throws(() => openNameList(path('none'), never), /none cannot be read: no such file/)
    assert.throws(() => openNameList(path('.'), never), /it is a folder/)
    writeFileSync(path('cut.gz'), gzipSync('a.example\n'.repeat(9)).subarray(0, -9))
    await assert.rejects(all(openNameList(path('cut.gz'), never).entries), /cut off; read up to line/)
  })

  test('ends at a stop while it waits', async (t) => {
    const { path } = folderOf(t)
    writeFileSync(path('list'), 'a.example\n')
    const controller = new AbortController()
    const list = openNameList(path('list'), controller.signal)
    controller.abort()
    await assert.rejects(all(list.entries), { name: 'AbortError' })
  })
})

suite('the position in a list', { concurrency: 2 }, () => {
  test('is stored next to it, with the open lines, and removed at the end', async (t) => {
    const { path } = folderOf(t)
    writeFileSync(path('list'), 'a.example\nb.example\n?\nc.example\nd.example\n')
    const open = () => openListProgress(openNameList(path('list'), never), 'here')
    const first = open()
    assert.deepEqual(await crawlSome(first, 4, [2]), ['a.example', 'b.example', null, 'c.example'])
    first.finish(false)
    assert.ok(existsSync(path('list.progress')))
    const second = open()
    assert.equal(second.resumeAfterLine, 4)
    appendFileSync(path('list'), 'e.example\n')
    assert.deepEqual(await crawlSome(second, 9), ['b.example', 'd.example', 'e.example'])
    second.finish(true)
    assert.ok(!existsSync(path('list.progress')))
    const third = open()
    third.finish(false)
    assert.ok(!existsSync(path('list.progress')), 'nothing was begun')
  })

  test('is rejected if the list before it or the destination has changed', async (t) => {
    const { path } = folderOf(t)
    writeFileSync(path('list'), 'a.example\nb.example\nc.example\n')
    const open = (to = 'here') => openListProgress(openNameList(path('list'), never), to)
    const first = open()
    await crawlSome(first, 2, [1])
    first.finish(false)
    assert.throws(() => open('there'), /into here is not finished.*remove .*list\.progress/)
    for (const changed of ['a.example\nB.example\nc.example\n', 'a.example\n', 'a.example\n\nb.example\nc.example\n']) {
      writeFileSync(path('list'), changed)
      const place = open()
      const taken: unknown[] = []
      const taking = async () => {
        for await (const entry of place.remainingEntries()) taken.push(entry)
      }
      await assert.rejects(taking, /list has changed before line 2, .*remove .*list\.progress/)
      assert.deepEqual(taken, [])
    }
    const other = { line: 0, digest: 0, open: [], destination: 'here', pid: process.ppid }
    writeFileSync(path('list.progress'), JSON.stringify(other))
    assert.throws(() => open(), new RegExp(`process ${process.ppid} is crawling .*list: wait until it ends`))
    writeFileSync(path('list.progress'), 'nonsense')
    assert.throws(() => open(), /list\.progress cannot be read: remove it/)
  })
})

test('does not exist for standard input, even if that is a file', async (t) => {
  const { path } = folderOf(t)
  writeFileSync(path('list'), 'a.example\nb.example\n')
  const list = { ...openNameList(path('list'), never), path: '-' }
  const place = openListProgress(list, 'here')
  assert.deepEqual(await crawlSome(place, 1), ['a.example'])
  place.finish(false)
  assert.ok(!existsSync('-.progress'))
})

/** Crawls names without a destination. */
function crawlNames(names: readonly string[], given: Partial<ListCrawl> & Pick<ListCrawl, 'probe'>): Promise<boolean> {
  const list = nameListFromArguments(names)
  return crawlList({
    ...{ runSelfCheck: async () => ({ passed: true }), clock: SYSTEM_CLOCK, signal: never, parallel: 1 },
    ...{ progress: openListProgress(list, ''), tally: createListCrawlTally('file') },
    destination: {
      targetsOf: async () => UNKNOWN_NAME,
      write: async (batch) => batch.map(() => 'written' as const),
      history: { outcomeHistory: async () => [], now: async () => 1, add: async () => {} },
    },
    ...{ politeness: makePolitenessLimiter({ nowMs: () => 0 }), optOut: { hasName: () => false }, isOwn: () => true },
    ...{ onEntry() {}, onProbe() {}, log() {}, onFault: (_, error) => assert.fail(`${error}`) },
    ...given,
  })
}

const NXDOMAIN = { at: 1, dns: { A: { outcome: 'nxdomain' } }, web: null } as const

suite('probes in flight', { concurrency: 2 }, () => {
  test('are at most as many as allowed, and every name is probed once', async () => {
    let inFlight = 0
    let most = 0
    const visited: string[] = []
    const visit = async (domain: DomainName) => {
      most = Math.max(most, ++inFlight)
      await new Promise((resolve) => setImmediate(resolve))
      visited.push(domain)
      inFlight--
      return { domain, ...NXDOMAIN }
    }
    const texts = Array.from({ length: 50 }, (_, index) => `n${index}.example`)
    assert.equal(await crawlNames(texts, { parallel: 8, probe: visit }), true)
    assert.deepEqual([most, visited.toSorted()], [8, texts.toSorted()])
  })

  test('after a stop, no further name starts, and the error of the destination is thrown after all have ended', async () => {
    const controller = new AbortController()
    const started: string[] = []
    const stopping = async (domain: DomainName) => {
      started.push(domain)
      controller.abort()
      return { domain, ...NXDOMAIN }
    }
    assert.equal(await crawlNames(['a.b', 'b.b', 'c.b'], { signal: controller.signal, probe: stopping }), false)
    assert.deepEqual(started, ['a.b'])
    let inFlight = 0
    const probe = async (domain: DomainName) => {
      inFlight++
      await new Promise((resolve) => setImmediate(resolve))
      inFlight--
      return { domain, ...NXDOMAIN }
    }
    const failing = {
      targetsOf: async () => UNKNOWN_NAME,
      history: { outcomeHistory: async () => [], now: async () => 1, add: async () => {} },
      async write() {
        throw new Error('no room')
      },
    }
    await assert.rejects(crawlNames(['a.b', 'b.b'], { probe, destination: failing }), /no room/)
    assert.equal(inFlight, 0)
  })

  test('are of both lines if a list has a name twice', async () => {
    let visits = 0
    const probe = async (domain: DomainName) => {
      visits++
      await new Promise((resolve) => setImmediate(resolve))
      return { domain, ...NXDOMAIN }
    }
    const tally = createListCrawlTally('file')
    assert.equal(await crawlNames(['a.b', 'a.b', 'A.b'], { parallel: 2, probe, tally }), true)
    assert.deepEqual([visits, tally.of('nxdomain')], [3, 3])
  })

  test('if a list breaks off, its results are saved before the error is thrown', async () => {
    const written: string[] = []
    const destination = {
      targetsOf: async () => UNKNOWN_NAME,
      history: { outcomeHistory: async () => [], now: async () => 1, add: async () => {} },
      async write(batch: readonly Observation[]) {
        written.push(...batch.map(({ domain }) => domain))
        return batch.map(() => 'written' as const)
      },
    }
    const list = nameListFromArguments(['a.b', 'b.b'])
    async function* remainingEntries() {
      yield* list.entries
      throw new Error('cut off')
    }
    const progress = { ...openListProgress(list, ''), remainingEntries }
    const probe = async (domain: DomainName) => ({ domain, ...NXDOMAIN })
    await assert.rejects(crawlNames([], { probe, destination, progress }), /cut off/)
    assert.deepEqual(written, ['a.b', 'b.b'])
  })

  test('are in the order of the list, even if the targets of an earlier name are known later', async () => {
    const texts = Array.from({ length: 30 }, (_, index) => `n${index}.example`)
    const visited: string[] = []
    const probe = async (domain: DomainName) => {
      visited.push(domain)
      return { domain, ...NXDOMAIN }
    }
    const destination = {
      async targetsOf(name: DomainName) {
        for (let turn = 0; turn < 30 - Number(/\d+/.exec(name)![0]); turn++) await new Promise(setImmediate)
        return UNKNOWN_NAME
      },
      history: { outcomeHistory: async () => [], now: async () => 1, add: async () => {} },
      write: async (batch: readonly unknown[]) => batch.map(() => 'written' as const),
    }
    assert.equal(await crawlNames(texts, { parallel: 8, probe, destination }), true)
    assert.deepEqual(visited, texts)
  })
})

suite('the observation file', { concurrency: 2 }, () => {
  const line = '{"domain":"a.example","observed_at":"2026-11-20T03:04:05Z","dns":{"status":"nxdomain"}}'
  const observation = parseObservation(line) as Observation

  test('is appended to; a partial line is removed, and a complete one is ended', async (t) => {
    const { path } = folderOf(t)
    const file = path('out.jsonl')
    const write = async () => {
      const out = openObservationFile(file, null)
      await out.write([observation])
      await out.close()
      return readFileSync(file, 'utf8')
    }
    assert.equal(await write(), `${line}\n`)
    assert.equal(await write(), `${line}\n`.repeat(2))
    appendFileSync(file, line.slice(0, 40))
    assert.equal(await write(), `${line}\n`.repeat(3))
    appendFileSync(file, line)
    assert.equal(await write(), `${line}\n`.repeat(5))
    writeFileSync(file, line.slice(0, 5))
    assert.equal(await write(), `${line}\n`)
  })

  test('another kind of file, the list itself and a folder are rejected and unchanged', (t) => {
    const { path } = folderOf(t)
    writeFileSync(path('notes'), 'a note')
    assert.throws(() => openObservationFile(path('notes'), null), /the last line of .* is not an observation/)
    assert.equal(readFileSync(path('notes'), 'utf8'), 'a note')
    writeFileSync(path('ended'), 'a note\n')
    assert.throws(() => openObservationFile(path('ended'), null), /the last line of .* is not an observation/)
    writeFileSync(path('list'), 'a.example\n')
    assert.throws(() => openObservationFile(path('list'), statSync(path('list'))), /is the list itself/)
    mkdirSync(path('folder'))
    assert.throws(() => openObservationFile(path('folder'), null), /cannot be written for --out/)
  })

  const script = `
    import { openObservationFile } from './src/crawler/list/observation-file.ts'
    import { parseObservation } from './src/observe/observation-parser.ts'
    process.stdout.isTTY // from here on a full pipe refuses
    const out = openObservationFile('-', null)
    const observation = parseObservation(${JSON.stringify(line)})
    for (let batch = 0; batch < 20; batch++) await out.write(Array(1000).fill(observation))
  `
  const writer = () => spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT })

  test('reaches a slow reader of standard output up to the last line', async () => {
    const child = writer()
    const read = await text(child.stdout)
    assert.equal(read.length, 20_000 * (line.length + 1))
  })

  test('is reported in one line if its reader ends', async () => {
    const child = writer()
    child.stdout.once('data', () => child.stdout.destroy())
    assert.match(await text(child.stderr), /CommandFault: standard output was closed/)
  })
})
