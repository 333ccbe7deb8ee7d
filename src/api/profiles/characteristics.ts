/** The characteristics of a domain outside `/v1.0/`, where a value that was never observed is null. */

import type { Lookup } from '../../store/port/store.ts'
import { CharacteristicsSchema, characteristicsJson } from '../endpoints/lookup.ts'
import { exactObject } from '../endpoints/schema.ts'
import { nullable } from './schema.ts'

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
