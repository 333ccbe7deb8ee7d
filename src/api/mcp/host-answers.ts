/** Asks for the host of a URL, and for its registrable domain if nothing is on record for the host. */

import { alternativeNote, hostAlternative } from '../../values/host-alternative.ts'
import type { SourceResponse, ToolSource } from './tool.ts'

type Parameters = Record<string, unknown>
/** `note`: says that the response is about another name; null if it is not. */
type HostResponse = SourceResponse & { note: string | null }

/** `text`: the query as it was pasted. */
export async function askForHost(
  source: ToolSource,
  endpoint: string,
  parameters: Parameters,
  text: string,
): Promise<HostResponse> {
  const response = await source.ask(endpoint, parameters)
  const alternative = hostAlternative(text)
  if (alternative === null) return { ...response, note: null }
  const note = alternativeNote(alternative)
  if (endpoint === 'domain') return { ...response, note: response.body.requested ? note : null }
  const isOtherPage = parameters.next !== undefined && errorOf(response) === 'cursor_mismatch'
  if (!isOtherPage && !(isNothing(response) && (await isUnknown(source, alternative.host))))
    return { ...response, note: null }
  return { ...(await source.ask(endpoint, { ...parameters, query: alternative.domain })), note }
}

async function isUnknown(source: ToolSource, host: string): Promise<boolean> {
  return errorOf(await source.ask('lookup', { query: host })) === 'no_data'
}

/** Whether there is no row and no state in a response. */
function isNothing(response: SourceResponse): boolean {
  if (response.status !== 200) return errorOf(response) === 'no_data'
  return Object.values(response.body.result as object).every((states) => Array.isArray(states) && states.length === 0)
}

function errorOf({ status, body }: SourceResponse): unknown {
  return status === 200 ? null : ((body.result ?? body) as { error?: unknown }).error
}
