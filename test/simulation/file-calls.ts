/**
 * The file functions of Node over the simulated disk, for paths of simulated processes. All other paths reach the real
 * file system. Each function is one call of the process that the path names.
 */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Readable } from 'node:stream'
import { type FileNode, fileError, isFolder, type SimulatedDisk } from './disk.ts'
import type { CallKind, SimulatedProcess } from './simulated-process.ts'

/** Paths of the simulation: `/simulated/NUMBER/PATH`, where NUMBER is that of the process. */
const SIMULATED_PATH = /^\/simulated\/(\d+)(\/.*)?$/
const FREE_BLOCKS = 2 ** 30
const BLOCK_BYTES = 4096
const DEFAULT_CHUNK_BYTES = 65_536

/** The path under which a process has a file of the disk. */
export const pathOf = (owner: SimulatedProcess, path: string): string => `/simulated/${owner.number}${path}`

/** The rules by which a planted fault changes the disk. */
export type DiskRules = {
  /** Whether a sync does nothing. */
  skipsSync(path: string): boolean
  /** Whether a failed write is reported as complete. */
  hidesFailure(path: string): boolean
}

type Place = { owner: SimulatedProcess; path: string }
type FileFunctions = Record<string, (...values: never[]) => unknown>
type Content = string | Uint8Array

/** The files of the processes that share a disk. */
export class FileCalls {
  readonly disk: SimulatedDisk
  readonly rules: DiskRules = { skipsSync: () => false, hidesFailure: () => false }
  readonly #processes = new Map<number, SimulatedProcess>()

  constructor(disk: SimulatedDisk) {
    this.disk = disk
  }

  add(owner: SimulatedProcess): void {
    this.#processes.set(owner.number, owner)
  }

  /** Returns null for a path that is not simulated. */
  placeOf(path: unknown): Place | null {
    const [, number, rest = '/'] = (typeof path === 'string' && SIMULATED_PATH.exec(path)) || []
    const owner = this.#processes.get(Number(number))
    return owner === undefined ? null : { owner, path: rest }
  }

  readonly functions = {
    open: (at: Place, flags = 'r') =>
      at.owner.call(flags === 'r' ? 'read' : 'write', () => this.#open(at, flags), this.#fails(at)),
    readFile: (at: Place, encoding?: BufferEncoding) =>
      this.#read(at, () => {
        const { content } = this.disk.file(at.path)
        return encoding === undefined ? content : content.toString(encoding)
      }),
    writeFile: (at: Place, content: Content) => this.#write(at, content),
    rename: (at: Place, to: string) => this.#change(at, () => this.disk.rename(at.path, this.placeOf(to)!.path)),
    rm: (at: Place, options: { recursive?: boolean; force?: boolean } = {}) =>
      this.#change(at, () => this.#remove(at.path, options)),
    mkdir: (at: Place, { recursive = false }: { recursive?: boolean } = {}) =>
      this.#change(at, () => this.#createFolder(at.path, recursive)),
    readdir: (at: Place, { withFileTypes = false }: { withFileTypes?: boolean } = {}) =>
      this.#read(at, () => {
        const entries = [...this.disk.folder(at.path).entries]
        return entries.map(([name, node]) =>
          withFileTypes ? { name, isDirectory: () => isFolder(node), isFile: () => !isFolder(node) } : name,
        )
      }),
    stat: (at: Place) => this.#read(at, () => this.#stat(at.path)),
    lstat: (at: Place) => this.#read(at, () => this.#stat(at.path)),
    statfs: (at: Place) => this.#read(at, () => ({ bavail: FREE_BLOCKS, blocks: FREE_BLOCKS, bsize: BLOCK_BYTES })),
    utimes: (at: Place, accessed: number, modified: number) =>
      this.#change(at, () => {
        Object.assign(this.disk.file(at.path), { atimeMs: accessed * 1000, mtimeMs: modified * 1000 })
      }),
  }

  /** `createReadStream` with a path, or with a handle of a simulated file. */
  readStream(path: string, { fd, highWaterMark = DEFAULT_CHUNK_BYTES }: { fd?: unknown; highWaterMark?: number } = {}) {
    const calls = this
    async function* chunks(): AsyncGenerator<Buffer> {
      const handle = fd === undefined ? await calls.functions.open(calls.placeOf(path)!) : (fd as SimulatedHandle)
      for (let from = 0; ; from += highWaterMark) {
        const chunk = Buffer.alloc(highWaterMark)
        const { bytesRead } = await handle.read(chunk, 0, highWaterMark, from)
        if (bytesRead === 0) break
        yield chunk.subarray(0, bytesRead)
      }
      await handle.close()
    }
    return Readable.from(chunks(), { highWaterMark: 1 })
  }

  #read<Result>(at: Place, work: () => Result): Promise<Result> {
    return at.owner.call('read', work)
  }

  #change(at: Place, work: () => void): Promise<void> {
    return at.owner.call('write', work, this.#fails(at))
  }

  #fails(at: Place): (code: string) => never {
    return (code) => {
      throw fileError(code, at.path)
    }
  }

  #write(at: Place, content: Content): Promise<void> {
    const bytes = Buffer.from(content as string)
    const write = (length: number): void =>
      this.disk.setContent(this.disk.create(at.path, false), bytes.subarray(0, length))
    return at.owner.call(
      'data',
      () => write(bytes.length),
      (code) => {
        write(bytes.length >> 1)
        if (!this.rules.hidesFailure(at.path)) throw fileError(code, at.path)
      },
    )
  }

  #stat(path: string) {
    const node = this.disk.require(path)
    return {
      mtimeMs: node.mtimeMs,
      atimeMs: node.mtimeMs,
      size: isFolder(node) ? 0 : node.content.length,
      isFile: () => !isFolder(node),
      isDirectory: () => isFolder(node),
    }
  }

  #remove(path: string, { recursive = false, force = false }: { recursive?: boolean; force?: boolean }): void {
    const node = this.disk.find(path)
    if (node === null) {
      if (force) return
      throw fileError('ENOENT', path)
    }
    if (isFolder(node) && !recursive) throw fileError('EISDIR', path)
    if (isFolder(node)) for (const name of [...node.entries.keys()]) this.#remove(`${path}/${name}`, { recursive })
    this.disk.remove(path)
  }

  #createFolder(path: string, isRecursive: boolean): void {
    const found = this.disk.find(path)
    if (found !== null) {
      if (isRecursive && isFolder(found)) return
      throw fileError('EEXIST', path)
    }
    const above = path.slice(0, path.lastIndexOf('/'))
    if (isRecursive && above !== '') this.#createFolder(above, true)
    this.disk.createFolder(path)
  }

  #open({ owner, path }: Place, flags: string): SimulatedHandle {
    if (flags === 'r') return new SimulatedHandle(this, owner, path, this.disk.require(path))
    return new SimulatedHandle(this, owner, path, this.disk.create(path, flags.includes('x')))
  }
}

type Opened = ReturnType<SimulatedDisk['require']>

/** What `open` returns: as much of a FileHandle as the product uses. */
class SimulatedHandle {
  readonly #calls: FileCalls
  readonly #owner: SimulatedProcess
  readonly #path: string
  readonly #node: Opened

  constructor(calls: FileCalls, owner: SimulatedProcess, path: string, node: Opened) {
    this.#calls = calls
    this.#owner = owner
    this.#path = path
    this.#node = node
  }

  stat() {
    return this.#call('read', () => ({ size: this.#file.content.length }))
  }

  read(target: Uint8Array, at: number, length: number, from: number) {
    return this.#call('read', () => {
      const part = this.#file.content.subarray(from, from + length)
      target.set(part, at)
      return { bytesRead: part.length, buffer: target }
    })
  }

  write(bytes: Uint8Array, from = 0) {
    const write = (length: number) => {
      const { disk } = this.#calls
      disk.setContent(this.#file, Buffer.concat([this.#file.content, bytes.subarray(from, from + length)]))
      return { bytesWritten: bytes.length - from }
    }
    return this.#owner.call(
      'data',
      () => write(bytes.length - from),
      (code) => {
        const written = write((bytes.length - from) >> 1)
        if (this.#calls.rules.hidesFailure(this.#path)) return written
        throw fileError(code, this.#path)
      },
    )
  }

  sync(): Promise<void> {
    const { disk, rules } = this.#calls
    return this.#owner.call(
      'write',
      () => (rules.skipsSync(this.#path) ? undefined : disk.sync(this.#node)),
      (code) => {
        throw fileError(code, this.#path)
      },
    )
  }

  datasync(): Promise<void> {
    return this.sync()
  }

  async close(): Promise<void> {}

  get #file(): FileNode {
    return this.#node as FileNode
  }

  #call<Result>(kind: CallKind, work: () => Result): Promise<Result> {
    return this.#owner.call(kind, work)
  }
}

/** Lets the modules of this process use simulated files. Returns the function that ends that. */
export function interceptFiles(calls: FileCalls): () => void {
  const promises = fs.promises as unknown as FileFunctions
  const real = { ...promises }
  const { createReadStream } = fs
  for (const [name, simulated] of Object.entries(calls.functions))
    promises[name] = (...values: never[]) => {
      const at = calls.placeOf(values[0])
      if (at === null) return real[name]!(...values)
      return (simulated as (...all: unknown[]) => unknown)(at, ...values.slice(1))
    }
  fs.createReadStream = ((path: string, options?: { fd?: unknown }) =>
    calls.placeOf(path) !== null || options?.fd instanceof SimulatedHandle
      ? calls.readStream(path, options)
      : createReadStream(path, options as never)) as typeof createReadStream
  syncBuiltinESMExports()
  return () => {
    Object.assign(promises, real)
    fs.createReadStream = createReadStream
    syncBuiltinESMExports()
  }
}
