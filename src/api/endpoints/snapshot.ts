/** /snapshot: the list of all known domains, as a report or as the file itself. */

import Type from 'typebox'
import { ADDONS, type Addon } from '../../accounts/account.ts'
import type { Endpoint } from '../endpoint.ts'
import { Refusal } from '../errors.ts'
import { isOn } from '../parameters.ts'
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
  admit({ account }, parameters) {
    const needed: readonly Addon[] = isOn(parameters, 'enriched') ? ADDONS : ['export']
    const missing = needed.find((addon) => !account.addons.includes(addon))
    if (missing !== undefined) throw new Refusal('addon_required', { msg: `This needs the add-on "${missing}".` })
  },
  async answer() {
    throw new Refusal('no_data', { msg: 'No snapshot has been built yet.' })
  },
}
