/** The verdict of a website as /lookup spells it, in the responses about the past. */

import type { WebVerdict } from '../../../values/web-verdict.ts'
import { CharacteristicsSchema } from '../lookup.ts'
import { DomainSchema, nullable } from '../schema.ts'

/** The fields of /lookup that follow from a verdict. */
export const VERDICT_FIELDS = [
  ...(['has_website', 'redirect_to_https', 'redirect_to_www', 'redirect_to_domain', 'only_with_www', 'ssl'] as const),
]

export const VerdictSchemas = {
  ...Object.fromEntries(VERDICT_FIELDS.map((field) => [field, CharacteristicsSchema.properties[field]!])),
  redirects_to: nullable(DomainSchema, 'The other domain to which it redirects.'),
  redirect_host: nullable(DomainSchema, 'The final host of the redirects; null if it is the domain itself or unknown.'),
}

/** The fields of a verdict with the values that `Lookup` has. */
export function lookupFieldsOf(verdict: WebVerdict) {
  const { has_website, redirect_to_https, redirect_to_www, only_with_www, redirects_to, ssl } = verdict
  const redirect_to_domain = redirects_to !== null
  return { has_website, redirect_to_https, redirect_to_www, redirect_to_domain, only_with_www, ssl }
}

/** The members of a row. */
export function verdictJson(verdict: WebVerdict): string {
  const fields = Object.entries(lookupFieldsOf(verdict)).map(([key, value]) => {
    return `"${key}":"${typeof value === 'string' ? value : value ? 'yes' : 'no'}"`
  })
  const { redirects_to, redirect_host = null } = verdict
  return `${fields.join()},"redirects_to":${JSON.stringify(redirects_to)},"redirect_host":${JSON.stringify(redirect_host)}`
}
