/** The conformance suite of every file store. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import {
  type FileDescription,
  type FileStore,
  type OpenedFile,
  parseFileName,
} from '../../../src/jobs/file-store/file-store.ts'
import { inForm } from '../../long.ts'

export type FileStoreEngine = {
  name: string
  /** An empty file store, removed after the test. Each call of `another` returns the view of another process. */
  open(test: TestContext): Promise<{ fileStore: FileStore; another(): FileStore }>
}

export const NAME = nameOf('2026-11-19.txt.gz')
export const GENERATED = 1_795_140_000

export function nameOf(text: string) {
  const parsed = parseFileName(text)
  assert.ok(parsed, text)
  return parsed.name
}

export function description(generated = GENERATED): FileDescription {
  return { generated, rows: 1, plain_bytes: 3, plain_sha256: 'ab', first: null, last: null, held: null }
}

/** A source that yields these pieces. */
export async function* pieces(...given: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* given
}

export const bytes = (length: number, seed = 1): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => Math.imul(index + seed, 2_654_435_761) >>> 24)

export const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** Reads the bytes of a range. It copies each piece, because a piece is valid only until the next one. */
export async function readAll(opened: OpenedFile, start = 0, end = opened.manifest.bytes): Promise<Buffer> {
  const read: Buffer[] = []
  for await (const piece of opened.read(start, end)) {
    assert.ok(piece.length > 0 && piece.length <= 131_072)
    read.push(Buffer.from(piece))
  }
  return Buffer.concat(read)
}

/** Returns the content of a file, or null if there is none. The content must match the manifest. */
export async function contentOf(fileStore: FileStore, name = NAME): Promise<Buffer | null> {
  const opened = await fileStore.open(name)
  if (opened === null) return null
  const content = await readAll(opened)
  await opened.close()
  assert.equal(content.length, opened.manifest.bytes)
  assert.equal(sha256(content), opened.manifest.sha256)
  return content
}

export function fileStoreConformance(engine: FileStoreEngine): void {
  const on = (
    sentence: string,
    operation: (world: Awaited<ReturnType<FileStoreEngine['open']>>) => Promise<void>,
  ): void => {
    test(`${engine.name}: ${sentence}`, async (t) => operation(await engine.open(t)))
  }

  on('reports the free space, before the first file and after it', async ({ fileStore }) => {
    const before = await fileStore.freeBytes()
    assert.ok(before > 0)
    await fileStore.publish(NAME, pieces(bytes(10)), () => description())
    assert.ok((await fileStore.freeBytes()) > 0)
  })

  on('a mark is kept, replaced by a newer one, and removed', async ({ fileStore, another }) => {
    const { notes } = fileStore
    assert.equal(await notes.read('installation'), null)
    for (const mark of ['first', 'second']) {
      await notes.write('installation', mark)
      assert.equal(await another().notes.read('installation'), mark)
    }
    await fileStore.publish(NAME, pieces(bytes(10)), () => description())
    assert.deepEqual((await fileStore.list('daily')).length, 1)
    assert.equal(await notes.read('installation'), 'second')
    await notes.remove('installation')
    await notes.remove('installation')
    assert.equal(await another().notes.read('installation'), null)
  })

  on('an empty file store has no file, no manifest and an empty list', async ({ fileStore }) => {
    assert.equal(await fileStore.open(NAME), null)
    assert.equal(await fileStore.manifest(NAME), null)
    assert.deepEqual(await fileStore.list('daily'), [])
    await fileStore.remove(NAME)
  })

  on('a file is published with a manifest that describes it', async ({ fileStore, another }) => {
    const content = bytes(300_000)
    const reported: object[] = []
    const manifest = await fileStore.publish(NAME, pieces(content.subarray(0, 7), content.subarray(7)), (written) => {
      reported.push(written)
      return { ...description(), ratio: 1.5, listed_before: 2 }
    })
    const written = { bytes: 300_000, sha256: sha256(content) }
    assert.deepEqual(reported, [written])
    const expected = { ...description(), ratio: 1.5, listed_before: 2, ...written }
    assert.deepEqual(manifest, { ...expected, name: NAME, kind: 'daily', date: '2026-11-19', revision: 1 })
    assert.deepEqual(await another().manifest(NAME), manifest)
    assert.deepEqual(await another().list('daily'), [manifest])
    assert.deepEqual(await contentOf(another()), Buffer.from(content))
  })

  on('any range of a file returns its bytes', async ({ fileStore }) => {
    const content = Buffer.from(bytes(400_000))
    await fileStore.publish(NAME, pieces(content), () => description())
    const opened = (await fileStore.open(NAME))!
    const range = fc.tuple(fc.nat(400_000), fc.nat(400_000)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
    await fc.assert(
      fc.asyncProperty(range, async ([start, end]) => {
        assert.ok((await readAll(opened, start, end)).equals(content.subarray(start, end)))
      }),
      { numRuns: 40, examples: [[[0, 0]], [[0, 400_000]], [[400_000, 400_000]], [[131_072, 131_073]], [[0, 1]]] },
    )
    await opened.close()
  })

  replacing(on)
  failing(on)

  on('files are listed by kind, the oldest date first', async ({ fileStore }) => {
    const names = ['2026-11-19', '2025-12-31', '2026-02-01'].flatMap((date) => [
      `${date}.txt.gz`,
      `${date}-followup-7.csv.gz`,
      `domains-${date}.txt.gz`,
    ])
    for (const name of names) await fileStore.publish(nameOf(name), pieces(bytes(3)), () => description())
    const listed = async (kind: 'daily' | 'followup-30' | 'snapshot') =>
      (await fileStore.list(kind)).map(({ name }) => name)
    assert.deepEqual(await listed('daily'), ['2025-12-31.txt.gz', '2026-02-01.txt.gz', '2026-11-19.txt.gz'])
    assert.deepEqual(await listed('followup-30'), [])
    assert.equal((await listed('snapshot')).at(-1), 'domains-2026-11-19.txt.gz')
  })

  on('with concurrent writers, a read returns one of the written files', async ({ fileStore, another }) => {
    const contents = Array.from({ length: 8 }, (_, index) => Buffer.from(bytes(50_000 + index, index)))
    const others = contents.map(() => another())
    let isOver = false
    const reading = (async () => {
      for (; !isOver; await new Promise(setImmediate)) {
        const read = await contentOf(fileStore)
        assert.ok(read === null || contents.some((content) => content.equals(read)))
      }
    })()
    for (let round = 0; round < inForm(2, 5); round++) {
      await Promise.all(
        others.map((other, index) => other.publish(NAME, pieces(contents[index]!), () => description())),
      )
    }
    isOver = true
    await reading
    assert.ok((await fileStore.manifest(NAME))!.revision > 1)
  })
}

type On = (
  sentence: string,
  operation: (world: { fileStore: FileStore; another(): FileStore }) => Promise<void>,
) => void

function replacing(on: On): void {
  on('a newer file replaces the former one atomically, with its own revision and time', async (world) => {
    const { fileStore, another } = world
    const first = await fileStore.publish(NAME, pieces(bytes(9)), () => description())
    const second = await another().publish(NAME, pieces(bytes(10)), () => description(GENERATED - 50))
    assert.deepEqual([first.revision, second.revision], [1, 2])
    assert.equal(second.generated, GENERATED + 1)
    const third = await fileStore.publish(NAME, pieces(bytes(11)), () => description(GENERATED + 500))
    assert.deepEqual([third.revision, third.generated], [3, GENERATED + 500])
    assert.deepEqual(await fileStore.list('daily'), [third])
    assert.equal((await contentOf(fileStore))!.length, 11)
  })

  on('before a file is completely written, the former file stays', async ({ fileStore, another }) => {
    const reader = another()
    const seen: (number | undefined)[] = []
    const look = async () => seen.push((await contentOf(reader))?.length)
    async function* slow(length: number) {
      for (let piece = 0; piece < 3; piece++) {
        await look()
        yield bytes(length)
      }
      await look()
    }
    await fileStore.publish(NAME, slow(10), () => description())
    await fileStore.publish(NAME, slow(20), () => description())
    await look()
    assert.deepEqual(seen, [undefined, undefined, undefined, undefined, 30, 30, 30, 30, 60])
  })

  on('a reader of a file that is replaced or removed can read on', async ({ fileStore, another }) => {
    const content = Buffer.from(bytes(500_000))
    await fileStore.publish(NAME, pieces(content), () => description())
    const opened = (await another().open(NAME))!
    const reading = opened.read(0, 500_000)[Symbol.asyncIterator]()
    const read = [Buffer.from((await reading.next()).value!)]
    await fileStore.publish(NAME, pieces(bytes(7)), () => description())
    read.push(Buffer.from((await reading.next()).value!))
    await fileStore.remove(NAME)
    assert.equal(await fileStore.open(NAME), null)
    assert.deepEqual(await fileStore.list('daily'), [])
    for (let next = await reading.next(); !next.done; next = await reading.next()) read.push(Buffer.from(next.value))
    assert.ok(Buffer.concat(read).equals(content))
    assert.ok((await readAll(opened, 400_000, 400_100)).equals(content.subarray(400_000, 400_100)))
    await opened.close()
  })
}

function failing(on: On): void {
  on('if a source or a description fails, the former file stays', async ({ fileStore }) => {
    async function* broken() {
      yield bytes(100_000)
      throw new Error('the source broke')
    }
    const fail = () => {
      throw new Error('nothing to say')
    }
    await assert.rejects(
      fileStore.publish(NAME, broken(), () => description()),
      /the source broke/,
    )
    assert.equal(await fileStore.open(NAME), null)
    const manifest = await fileStore.publish(NAME, pieces(bytes(5)), () => description())
    await assert.rejects(
      fileStore.publish(NAME, broken(), () => description()),
      /the source broke/,
    )
    await assert.rejects(fileStore.publish(NAME, pieces(bytes(6)), fail), /nothing to say/)
    assert.deepEqual(await fileStore.manifest(NAME), manifest)
    assert.equal((await contentOf(fileStore))!.length, 5)
  })
}
