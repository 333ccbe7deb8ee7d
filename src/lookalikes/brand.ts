/** A brand: the domain that others imitate, and the parts of its name. */

import { type DomainName, registrableDomainOrNull } from '../values/domain-name.ts'
import { appearancesOf, unicodeOf } from './idn.ts'

/**
 * `domain`: the registrable domain of the brand. `subdomain`: what the name has before it, without `www`. `label`: the
 * first label of the domain, `characters`: those of its U-label, `text`: what these look like in ASCII.
 */
export type Brand = {
  domain: DomainName
  subdomain: string
  label: string
  characters: string
  text: string
  suffix: string
}

/** Labels with fewer characters have more names at the distance 1 than anyone can look through. */
export const MIN_BRAND_CHARACTERS = 3

/** Reads a brand. A text is what is wrong with it, as a sentence. */
export function parseBrand(name: DomainName): Brand | string {
  const domain = registrableDomainOrNull(name)
  if (domain === null) return `${name} is a public suffix: send a domain below it, such as example.${name}.`
  const subdomain = name.slice(0, -domain.length).replace(/\.$/, '').replace(/^www$/, '')
  const dot = domain.indexOf('.')
  const label = domain.slice(0, dot)
  const characters = unicodeOf(label)
  const [{ text }] = appearancesOf(characters)
  if ([...text].length < MIN_BRAND_CHARACTERS)
    return `The label "${text}" of ${domain} is too short: lookalikes need ${MIN_BRAND_CHARACTERS} characters or more.`
  return { domain, subdomain, label, characters, text, suffix: domain.slice(dot + 1) }
}
