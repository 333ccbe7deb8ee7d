/** Snapshots: every name that is known when the build begins, as a plain list and with columns, both from one walk over the store. */

import { createHash } from 'node:crypto'
import { type ListedPage, type Listing, ROW_COLUMNS, type Stage, type Walk } from '../store/listing.ts'
import type { Name } from '../words/name.ts'
import { type Day, dayOf } from '../words/time.ts'
import { type Built, expectRoom, publish, type Run } from './build.ts'
import { type Description, type FileKind, fileName, type Manifest, type Shelf } from './shelf.ts'

export type SnapshotBuild = {
  shelf: Shelf
  listing: Listing
  /** The day that the files are named after; null: the one on which the walk begins. */
  date: Day | null
  /** How many of each edition stay on the shelf, the newest ones. */
  kept: number
  /** Told how much of a step is done, and how much it is in all; null for what is not known. */
  onStep?: (step: Stage | Edition, done: number, all: number | null) => void
}

export type Edition = Extract<FileKind, 'snapshot' | 'enriched'>

/** What an edition is made of. `bytes`: of a name, packed, where no earlier file says it. */
type Recipe = { header: string; bytes: number; pages: (walk: Walk) => AsyncIterable<ListedPage> }

const RECIPES: Readonly<Record<Edition, Recipe>> = {
  snapshot: { header: '', bytes: 10, pages: (walk) => walk.names() },
  enriched: { header: `${ROW_COLUMNS.join()}\n`, bytes: 20, pages: (walk) => walk.rows() },
}
/** A file may be larger than the one before it. */
const GROWTH = 1.2
/** 1.03 times the size of level 6 on names in byte order, at 1.8 times its speed (bench:gzip). */
const LEVEL = 4

/** Puts both editions on the shelf, and takes off those that are older than what is kept. */
export async function buildSnapshots(build: SnapshotBuild, run: Run): Promise<Manifest[]> {
  const { listing, shelf, kept, onStep = () => {} } = build
  const walk = await listing.begin({ signal: run.signal, onStage: onStep })
  try {
    const date = build.date ?? dayOf(walk.begun)
    const built: Manifest[] = []
    for (const edition of ['snapshot', 'enriched'] as const) {
      const onRows = (rows: number): void => {
        run.onRows(rows)
        onStep(edition, rows, walk.about)
      }
      const { manifest } = await buildEdition(edition, date, { shelf, walk }, { ...run, onRows })
      built.push(manifest)
      await removeOld(shelf, edition, date, kept)
    }
    return built
  } finally {
    await walk.close()
  }
}

/** Puts one edition on the shelf, of the names of a walk. */
export async function buildEdition(
  edition: Edition,
  date: Day,
  { shelf, walk }: { shelf: Shelf; walk: Walk },
  run: Run,
): Promise<Built> {
  const { header, bytes, pages } = RECIPES[edition]
  const former = (await shelf.list(edition)).at(-1)
  await expectRoom(shelf, `the ${edition} file of ${date}`, former ? former.bytes * GROWTH : (walk.about ?? 0) * bytes)
  const count = new Count(run)
  const describe = (): Description => ({ generated: walk.begun, ...count.counts(), held: null })
  const isSame = (): boolean => false // of which moment it is says the file that is there
  return publish(
    shelf,
    fileName(edition, date),
    count.content(header, pages(walk)),
    { describe, isSame, level: LEVEL },
    run,
  )
}

async function removeOld(shelf: Shelf, edition: Edition, built: Day, kept: number): Promise<void> {
  const others = (await shelf.list(edition)).filter(({ date }) => date !== built)
  const most = Math.max(0, others.length - (kept - 1))
  for (const { name } of others.slice(0, most)) await shelf.remove(name)
}

/** Counts the pages that go into a file. */
class Count {
  readonly #run: Run
  readonly #digest = createHash('sha256')
  #rows = 0
  #bytes = 0
  #first: Name | null = null
  #last: Name | null = null

  constructor(run: Run) {
    this.#run = run
  }

  async *content(header: string, pages: AsyncIterable<ListedPage>): AsyncGenerator<Uint8Array> {
    if (header !== '') yield this.#piece(Buffer.from(header))
    for await (const { text, rows, first, last } of pages) {
      this.#rows += rows
      this.#first ??= first
      this.#last = last
      yield this.#piece(text)
      release(text)
      this.#run.onRows(this.#rows)
    }
  }

  counts(): Pick<Description, 'rows' | 'plain_bytes' | 'plain_sha256' | 'first' | 'last'> {
    const plain_sha256 = this.#digest.digest('hex')
    return { rows: this.#rows, plain_bytes: this.#bytes, plain_sha256, first: this.#first, last: this.#last }
  }

  #piece(piece: Uint8Array): Uint8Array {
    this.#digest.update(piece)
    this.#bytes += piece.length
    return piece
  }
}

/** Gives the memory of a page back now, since who packs it has copied it: the collector would wait for a hundred more. */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
