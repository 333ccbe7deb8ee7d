/** The name that the path of a profile asks for. */

import type { DomainName } from '../../../values/domain-name.ts'
import { hostAlternative, hostOfUrl } from '../../../values/host-alternative.ts'
import { ApiError } from '../../http/errors.ts'
import { readNameParameter, readQueryParameter } from '../../http/parameters.ts'
import type { EndpointCall, EndpointResult } from '../endpoint.ts'
import { DomainSchema, nullable } from '../schema.ts'

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

export const RequestedSchema = nullable(
  DomainSchema,
  'The host that was requested, if nothing is on record for it and the response is about its registrable domain.',
)

/**
 * The response about the first of `names` that has one. Throws `no_data` with the message for the first name if
 * none has.
 */
export async function firstAnswer(
  call: EndpointCall,
  names: readonly RequestedName[],
  read: (name: RequestedName) => Promise<EndpointResult | null>,
  missing: (name: DomainName) => string,
): Promise<EndpointResult> {
  for (const each of names) {
    const found = await read(each)
    if (found !== null) return found
  }
  const { name } = names[0]!
  call.onUnknownName(name)
  throw new ApiError('no_data', { msg: missing(name) })
}
