/** Reads manifests from S3. A listing reads only those that changed since the last one. */

import { BuildFault } from '../build-fault.ts'
import { type FileManifest, type FileName, parseFileName } from '../file-store.ts'
import { inGroups } from './groups.ts'
import type { ListedObject, S3Objects } from './objects.ts'

/** A manifest as stored. `data`: the name of the data object next to it. */
export type StoredManifest = FileManifest & { data: string }

export const manifestKey = (name: FileName): string => `${parseFileName(name)!.kind}/${name}.json`

/** Whether a key is that of a manifest: `daily/2026-11-19.txt.gz.json`. */
export function isManifestKey(key: string): boolean {
  const [, folder, text = ''] = /^([^/]+)\/(.+)\.json$/.exec(key) ?? []
  return parseFileName(text)?.kind === folder && folder !== undefined
}

export class ManifestReader {
  readonly #objects: Pick<S3Objects, 'text' | 'url'>
  /** The last version of each manifest that was read. */
  readonly #known = new Map<string, { etag: string; manifest: StoredManifest }>()

  constructor(objects: Pick<S3Objects, 'text' | 'url'>) {
    this.#objects = objects
  }

  /** Reads a manifest; null if there is none. Throws BuildFault if it is damaged. */
  async read(key: string): Promise<StoredManifest | null> {
    const found = await this.#objects.text(key)
    if (found === null) {
      this.#known.delete(key)
      return null
    }
    const manifest = this.#parse(key, found.text)
    this.#known.set(key, { etag: found.etag, manifest })
    return manifest
  }

  /** Reads the manifests of a listing. Leaves out those that were removed meanwhile. */
  async readAll(listed: readonly ListedObject[]): Promise<StoredManifest[]> {
    const objects = listed.filter(({ key }) => isManifestKey(key))
    const read = await inGroups(objects, async ({ key, etag }) => {
      const known = this.#known.get(key)
      return known?.etag === etag ? known.manifest : this.read(key)
    })
    return read.filter((manifest) => manifest !== null)
  }

  #parse(key: string, text: string): StoredManifest {
    try {
      return JSON.parse(text)
    } catch {
      const path = `${this.#objects.url}${key}`
      throw new BuildFault(`${path}: it is not a manifest. Remove that manifest and rebuild its file`)
    }
  }
}
