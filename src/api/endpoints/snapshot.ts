/** /snapshot: the list of all known domains, as a report or as the file itself. */

import Type from 'typebox'
import { type Account, ADDONS, type Addon } from '../../accounts/account.ts'
import type { FileKind, FileName, Manifest } from '../../nightly/shelf.ts'
import { formatInstant } from '../../words/time.ts'
import { type Download, openUnheld, type Reading } from '../download.ts'
import type { Endpoint } from '../endpoint.ts'
import { Refusal } from '../errors.ts'
import { isOn, type Parameters } from '../parameters.ts'
import { exactly, Ok, oneOf, Rcode } from '../schema.ts'

export const snapshot: Endpoint = {
  name: 'snapshot',
  summary: 'List of all known domains',
  description:
    'Reports on the newest snapshot, which is built nightly; with `download` the gzipped file itself. Needs the export ' +
    'add-on, and the edition with website, mail and SSL columns the enriched add-on beside it.',
  envelope: 'top',
  parameters: Type.Object({
    download: Type.Optional(oneOf(['1'], 'Sends the file instead of the report.')),
    enriched: Type.Optional(oneOf(['1'], 'The enriched edition.')),
  }),
  response: exactly({
    meta: exactly({
      rcode: Rcode,
      msg: Ok,
      generated: Type.String({ format: 'date-time', description: 'When the snapshot was built.' }),
      domains: Type.Integer({ minimum: 0, description: 'How many names the file has.' }),
      size: Type.Integer({ minimum: 0, description: 'Its compressed size in bytes.' }),
      filename: Type.String({ description: 'The name that the download carries.' }),
      format: oneOf(['names', 'enriched'], 'The edition that the figures describe.'),
      enriched_available: Type.Boolean({ description: 'Whether the account may ask for the enriched edition.' }),
    }),
    result: Type.Array(Type.Never(), { maxItems: 0 }),
  }),
  file: { type: 'application/gzip', description: 'The file, where `download` asks for it.' },
  errors: ['addon_required', 'no_data'],
  admit: ({ account }, parameters) => admitSnapshot(account, editionOf(parameters)),
  download: {
    isAsked: (parameters) => isOn(parameters, 'download'),
    async find(_caller, shelf, parameters) {
      const { name } = await newest(shelf, editionOf(parameters))
      return openSnapshot(shelf, name)
    },
  },
  async answer({ parameters, caller, shelf }) {
    const edition = editionOf(parameters)
    const { generated, rows, bytes, name } = await newest(shelf, edition)
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
    return { body: [JSON.stringify({ meta, result: [] })], observed: null }
  },
}

type Edition = Extract<FileKind, 'snapshot' | 'enriched'>

const editionOf = (parameters: Parameters): Edition => (isOn(parameters, 'enriched') ? 'enriched' : 'snapshot')

/** The owner of the machine (plan local) needs no add-ons. */
function hasAddon({ plan, addons }: Pick<Account, 'plan' | 'addons'>, addon: Addon): boolean {
  return plan === 'local' || addons.includes(addon)
}

/** Throws `addon_required`, which names the first add-on that the account lacks. */
export function admitSnapshot(account: Pick<Account, 'plan' | 'addons'>, edition: Edition): void {
  const needed: readonly Addon[] = edition === 'enriched' ? ADDONS : ['export']
  const missing = needed.find((addon) => !hasAddon(account, addon))
  if (missing !== undefined) throw new Refusal('addon_required', { msg: `This needs the add-on "${missing}".` })
}

async function newest(shelf: Reading, edition: Edition): Promise<Manifest> {
  const manifest = (await shelf.list(edition)).findLast(({ held }) => held === null)
  if (manifest === undefined) throw new Refusal('no_data', { msg: 'No snapshot has been built yet.' })
  return manifest
}

export async function openSnapshot(shelf: Reading, name: FileName): Promise<Download> {
  const opened = await openUnheld(shelf, name)
  if (opened === null) throw new Refusal('no_data', { msg: `There is no snapshot ${name}.` })
  return { opened, disposition: `attachment; filename="${name}"` }
}
