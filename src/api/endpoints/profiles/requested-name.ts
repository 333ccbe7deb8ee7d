/** The name that the path of a profile asks for. */

import type { DomainName } from '../../../values/domain-name.ts'
import { hostAlternative, hostOfUrl } from '../../../values/host-alternative.ts'
import { readNameParameter, readQueryParameter } from '../../http/parameters.ts'
import type { EndpointCall } from '../endpoint.ts'

/**
 * `name`: what the response is about. `requested`: the host that was asked for, if nothing is on record for it and `name` is
 * its registrable domain; otherwise null.
 */
export type RequestedName = { name: DomainName; requested: DomainName | null }

/** The names to try, in order: a URL or a `www.` host stands for its registrable domain if it is unknown itself. */
export function requestedNames({ parameters }: Pick<EndpointCall, 'parameters'>): RequestedName[] {
  const text = readQueryParameter(parameters)
  const alternative = hostAlternative(text)
  const host = hostOfUrl(text) ?? readNameParameter(parameters)
  const itself = { name: host, requested: null }
  return alternative ? [itself, { name: alternative.domain, requested: host }] : [itself]
}
