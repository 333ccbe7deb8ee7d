/** /lookup: the key characteristics of one domain. */

import type { Lookup } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { ApiError } from '../http/errors.ts'
import { readNameParameter } from '../http/parameters.ts'
import { answerJson } from './answer-json.ts'
import type { Endpoint } from './endpoint.ts'
import { LOOKUP_EXAMPLE } from './examples.ts'
import {
  DomainQuerySchema,
  DomainSchema,
  enumString,
  exactObject,
  nullable,
  OkMessageSchema,
  RcodeSchema,
  Type,
  yesNoSchema,
} from './schema.ts'

const CountSchema = Type.String({ pattern: '^\\d+$' })

const SocialAccountSchema = exactObject({
  network: Type.String({ description: 'The network, for example `x` or `linkedin`.' }),
  type: Type.String({
    description: 'More specific than the network, for example `facebook_page`; new values may appear.',
  }),
  username: Type.String(),
  url: Type.String(),
})

export const CharacteristicsSchema = exactObject({
  has_website: yesNoSchema('A website is hosted under the domain and it does not redirect elsewhere.'),
  redirect_to_https: yesNoSchema('The domain redirects from http to https.'),
  redirect_to_www: yesNoSchema('The domain redirects to `www.` plus itself.'),
  redirect_to_domain: yesNoSchema('The domain redirects to a different domain.'),
  only_with_www: yesNoSchema('Reachable only as `www.` plus itself: the bare domain does not answer.'),
  only_dns_no_web: yesNoSchema('DNS entries exist but no A or AAAA record.'),
  ssl: enumString(
    ['valid', 'nocert', 'invalid'],
    'Whether the certificate is valid; `nocert`: the server presented none.',
  ),
  ip: Type.Optional(
    enumString(
      ['v4only', 'v6only', 'both', 'servfail', 'noip', 'nxdomain'],
      'The address families that resolve. Missing if resolution is not recorded yet.',
    ),
  ),
  redirect_count: Type.String({ ...CountSchema, description: 'The number of domains that redirect to this one.' }),
  reverse_ip_count: Type.String({
    ...CountSchema,
    description: 'The number of rows that `/reverseip` returns for this domain.',
  }),
  social_networks: Type.Array(Type.String(), { description: 'The networks on which the domain is present.' }),
  social_accounts: Type.Array(SocialAccountSchema, { description: 'The accounts that the start page names.' }),
})

export const lookup: Endpoint = {
  name: 'lookup',
  summary: 'Key characteristics of one domain',
  description:
    'Website, redirects, certificate, address families, counts and social presence. For a known domain that was never ' +
    'crawled, the response has "no", "nocert" and empty lists.',
  envelope: 'result',
  parameters: Type.Object({ query: DomainQuerySchema }),
  response: exactObject({
    meta: exactObject({ query: DomainSchema, rcode: RcodeSchema, msg: OkMessageSchema }),
    result: CharacteristicsSchema,
  }),
  example: LOOKUP_EXAMPLE,
  file: null,
  errors: ['query_missing', 'domain_format', 'no_data'],
  async handle({ parameters, facts, onUnknownName }) {
    const query = readNameParameter(parameters)
    const found = await facts.lookup(query)
    if (found === null) {
      onUnknownName(query)
      throw new ApiError('no_data', { msg: `Nothing is on record for ${query}.` })
    }
    return { body: [lookupBody(query, found)], lastObserved: found }
  },
}

function lookupBody(query: DomainName, found: Lookup): string {
  return `{"meta":{"query":"${query}","rcode":200,"msg":"ok"},"result":${characteristicsJson(found)}}`
}

/** The object `result`, built as text: enum values need no escapes, and the arrays are stored as JSON. */
function characteristicsJson(found: Lookup): string {
  return (
    `{"has_website":${answerJson(found.has_website)},"redirect_to_https":${answerJson(found.redirect_to_https)},` +
    `"redirect_to_www":${answerJson(found.redirect_to_www)},"redirect_to_domain":${answerJson(found.redirect_to_domain)},` +
    `"only_with_www":${answerJson(found.only_with_www)},"only_dns_no_web":${answerJson(found.only_dns_no_web)},` +
    `"ssl":"${found.ssl}",${found.ip === null ? '' : `"ip":"${found.ip}",`}` +
    `"redirect_count":"${found.redirect_count}","reverse_ip_count":"${found.reverse_ip_count}",` +
    `"social_networks":${found.social_networks},"social_accounts":${found.social_accounts}}`
  )
}

/** Derived from the web part. `ssl` is not: a certificate can be observed without a website. */
const WEB_KEYS = [
  ...['has_website', 'redirect_to_https', 'redirect_to_www', 'redirect_to_domain', 'only_with_www'],
  ...['social_networks', 'social_accounts'],
]

const { redirect_count, reverse_ip_count, ...observed } = CharacteristicsSchema.properties

export const KnownCharacteristicsSchema = exactObject({
  ...Object.fromEntries(
    Object.entries(observed).map(([key, schema]) => [
      key,
      nullable(schema, `${schema.description} Null if that was never observed.`),
    ]),
  ),
  ...{ redirect_count: redirect_count!, reverse_ip_count: reverse_ip_count! },
})

/** The result of /lookup with null for what was never observed. */
export function knownCharacteristicsJson(found: Lookup): string {
  const known = JSON.parse(characteristicsJson(found)) as Record<string, unknown>
  if (found.web === null) for (const key of WEB_KEYS) known[key] = null
  if (found.web === null && found.ssl === 'nocert') known.ssl = null
  if (found.dns === null) known.only_dns_no_web = null
  return JSON.stringify({ ...known, ip: found.ip })
}
