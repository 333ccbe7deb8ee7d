/** /snapshot: the list of all known domains, as a report or as the file itself. */

import { type Account, ADDONS, type Addon } from '../../accounts/account.ts'
import type { FileManifest, FileName, SnapshotEdition } from '../../jobs/file-store/file-store.ts'
import { formatInstant } from '../../values/time.ts'
import { ApiError } from '../http/errors.ts'
import { type FileDownload, openPublished, type ReadableFileStore } from '../http/files/file-response.ts'
import { isSwitchedOn, type Parameters } from '../http/parameters.ts'
import type { Endpoint } from './endpoint.ts'
import { SNAPSHOT_EXAMPLE } from './examples.ts'
import { enumString, exactObject, OkMessageSchema, RcodeSchema, Type } from './schema.ts'

export const snapshot: Endpoint = {
  name: 'snapshot',
  summary: 'List of all known domains',
  description:
    'A report on the newest snapshot, which is built nightly, or with `download` the gzipped file itself. It needs the ' +
    'export add-on. The edition with website, mail and SSL columns also needs the enriched add-on.',
  envelope: 'top',
  parameters: Type.Object({
    download: Type.Optional(enumString(['1'], 'Sends the file instead of the report.')),
    enriched: Type.Optional(enumString(['1'], 'The enriched edition.')),
  }),
  response: exactObject({
    meta: exactObject({
      rcode: RcodeSchema,
      msg: OkMessageSchema,
      generated: Type.String({ format: 'date-time', description: 'When the snapshot was built.' }),
      domains: Type.Integer({ minimum: 0, description: 'The number of names in the file.' }),
      size: Type.Integer({ minimum: 0, description: 'Its compressed size in bytes.' }),
      filename: Type.String({ description: 'The file name of the download.' }),
      format: enumString(['names', 'enriched'], 'The edition of the report.'),
      enriched_available: Type.Boolean({ description: 'Whether the account may download the enriched edition.' }),
    }),
    result: Type.Array(Type.Never(), { maxItems: 0 }),
  }),
  example: SNAPSHOT_EXAMPLE,
  file: { type: 'application/gzip', description: 'The file, with `download`.' },
  errors: ['addon_required', 'no_data'],
  authorize: ({ account }, parameters) => authorizeSnapshot(account, requestedEdition(parameters)),
  download: {
    isRequested: (parameters) => isSwitchedOn(parameters, 'download'),
    async find(_caller, fileStore, parameters) {
      const { name } = await newestManifest(fileStore, requestedEdition(parameters))
      return openSnapshot(fileStore, name)
    },
  },
  async handle({ parameters, caller, fileStore }) {
    const edition = requestedEdition(parameters)
    const { generated, rows, bytes, name } = await newestManifest(fileStore, edition)
    const meta = {
      rcode: 200,
      msg: 'ok',
      generated: `${formatInstant(generated)}+00:00`,
      domains: rows,
      size: bytes,
      filename: name,
      format: edition === 'enriched' ? 'enriched' : 'names',
      enriched_available: hasAddon(caller.account, 'enriched'),
    }
    return { body: [JSON.stringify({ meta, result: [] })], lastObserved: null }
  },
}

const requestedEdition = (parameters: Parameters): SnapshotEdition =>
  isSwitchedOn(parameters, 'enriched') ? 'enriched' : 'snapshot'

/** The owner of the machine (plan local) needs no add-ons. */
function hasAddon({ plan, addons }: Pick<Account, 'plan' | 'addons'>, addon: Addon): boolean {
  return plan === 'local' || addons.includes(addon)
}

/** The first add-on that an edition needs and the account does not have; null if it has all. */
export function missingAddon(account: Pick<Account, 'plan' | 'addons'>, edition: SnapshotEdition): Addon | null {
  const needed: readonly Addon[] = edition === 'enriched' ? ADDONS : ['export']
  return needed.find((addon) => !hasAddon(account, addon)) ?? null
}

/** Throws `addon_required` with the first add-on that the account does not have. */
export function authorizeSnapshot(account: Pick<Account, 'plan' | 'addons'>, edition: SnapshotEdition): void {
  const missing = missingAddon(account, edition)
  if (missing !== null)
    throw new ApiError('addon_required', {
      msg: `This request needs the add-on "${missing}": ask the operator to add it to the account.`,
    })
}

async function newestManifest(fileStore: ReadableFileStore, edition: SnapshotEdition): Promise<FileManifest> {
  const manifest = (await fileStore.list(edition)).findLast(({ held }) => held === null)
  if (manifest === undefined) throw new ApiError('no_data', { msg: 'No snapshot has been built yet.' })
  return manifest
}

export async function openSnapshot(fileStore: ReadableFileStore, name: FileName): Promise<FileDownload> {
  const opened = await openPublished(fileStore, name)
  if (opened === null) throw new ApiError('no_data', { msg: `There is no snapshot ${name}.` })
  return { file: opened, disposition: `attachment; filename="${name}"` }
}
