/** GET /domain/NAME/named-certificates: the certificates that name a domain, whoever presented or published them. */

import { SESSION_ERRORS } from '../../http/errors.ts'
import type { Endpoint, EndpointCall, EndpointResult } from '../endpoint.ts'
import { CURSOR_ERRORS, indexPositionText, pageBody, parseIndexPosition, readPage } from '../paging.ts'
import { requireCompleteIndex } from '../pdns.ts'
import { DomainSchema, exactObject, PageMetaSchemas, PageParameterSchemas, Type } from '../schema.ts'
import { CertificateSchemas, certificateJson } from './certificate-fields.ts'
import { firstAnswer, type RequestedName, RequestedSchema, requestedNames } from './requested-name.ts'

const { names: _, ...OwnSchemas } = CertificateSchemas
export const NamingSchemas = { name: Type.String({ description: 'The name in the certificate.' }), ...OwnSchemas }
export const NAMING_FIELDS = Object.keys(NamingSchemas)
/** Certificates that are read at once. */
const MAX_READ = 1_000

export const namedcertificates: Endpoint = {
  name: 'namedcertificates',
  summary: 'Certificates that name a domain',
  description:
    'The certificates that have a domain, its wildcard or a name below it among their names, in the order of these ' +
    'names with their labels reversed. `/certificate/SHA256` says who presented one, and has all of its names. A `name` ' +
    'is read as in `/domain/NAME`. Each response is charged as one call.',
  envelope: 'top',
  parameters: Type.Object({
    name: Type.String({ description: 'A domain or a host.', examples: ['example.com'] }),
    ...PageParameterSchemas,
  }),
  response: exactObject({
    meta: exactObject({ query: DomainSchema, requested: RequestedSchema, ...PageMetaSchemas }),
    result: Type.Array(exactObject(NamingSchemas)),
  }),
  file: null,
  errors: ['domain_format', ...CURSOR_ERRORS, 'no_data', 'index_incomplete', ...SESSION_ERRORS],
  async handle(call) {
    const names = requestedNames(call)
    await requireCompleteIndex(call.inverse)
    return firstAnswer(
      call,
      names,
      (each) => readNaming(call, each),
      (name) => `No certificate that names ${name} is on record.`,
    )
  },
}

/** Null if no certificate is on record. */
async function readNaming(call: EndpointCall, { name, requested }: RequestedName): Promise<EndpointResult | null> {
  const { facts, inverse } = call
  const page = readPage(call, 'namedcertificates', requested ?? name)
  const { hosts, position } = await inverse.namedHosts(name, parseIndexPosition(page.position), page.limit)
  if (hosts.length === 0 && page.position === null) return null
  const known = await readCertificates(
    facts,
    hosts.map(({ sha256 }) => sha256),
  )
  const rows = hosts.flatMap(({ host }, index) => {
    const found = known[index]
    return found == null ? [] : [`{"name":"${host}",${certificateJson(found.certificate, { withNames: false })}}`]
  })
  const about = [`"query":"${name}"`, `"requested":${JSON.stringify(requested)}`]
  return { body: pageBody(page, about, rows, indexPositionText(position)), lastObserved: null }
}

/** As `FactsReader.certificates`, for any number. */
async function readCertificates(facts: EndpointCall['facts'], sha256s: readonly string[]) {
  const known: Awaited<ReturnType<typeof facts.certificates>> = []
  for (let at = 0; at < sha256s.length; at += MAX_READ)
    known.push(...(await facts.certificates(sha256s.slice(at, at + MAX_READ))))
  return known
}
