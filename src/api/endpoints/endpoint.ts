/** What an endpoint declares: how it is called, what it takes and answers, which errors it has, and what it does. */

import type { TObject, TSchema } from 'typebox'
import type { SimilarityService } from '../../similar/query/similarity-service.ts'
import type { FactsReader, LastObserved } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { CursorKeys } from '../cursor/cursor.ts'
import type { Envelope, ErrorKey } from '../errors.ts'
import type { FileDownload, ReadableFileStore } from '../http/files/file-response.ts'
import type { ResponseBody } from '../http/response.ts'
import type { Parameters } from './parameters.ts'

export type EndpointName = 'lookup' | 'redirect' | 'reverseip' | 'dnshistory' | 'daily' | 'snapshot' | 'similar'

/** One request that was let in. `miss` is told of a name that is not known: it may be visited soon. */
export type EndpointCall = {
  parameters: Parameters
  caller: Caller
  facts: FactsReader
  similarSearch: SimilarityService
  fileStore: ReadableFileStore
  keys: CursorKeys
  onUnknownName: (name: DomainName) => void
}

/** What is answered with status 200. `observed`: when the domain asked for was last looked at; null where none was. */
export type EndpointResult = { body: ResponseBody; lastObserved: LastObserved | null }

export type Endpoint = {
  name: EndpointName
  /** One line for the list of endpoints. */
  summary: string
  /** What it does, in Markdown. */
  description: string
  /** Where its errors stand. */
  envelope: Envelope
  /** The parameters besides `token`. */
  parameters: TObject
  /** The JSON body of status 200; null where it always is a file. */
  response: TSchema | null
  /** What is sent where that is a file; null for an endpoint that has none. */
  file: { type: string; description: string } | null
  /** The errors that are not common to all endpoints. */
  errors: readonly ErrorKey[]
  /** Checks plan and add-ons; throws the Refusal. Left out where any plan will do. */
  authorize?: (caller: Caller, parameters: Parameters) => void
  /** Where a file may be sent instead: whether it is asked for, and the file; throws a Refusal. */
  download?: {
    isRequested: (parameters: Parameters) => boolean
    find: (caller: Caller, fileStore: ReadableFileStore, parameters: Parameters) => Promise<FileDownload>
  }
  /** Checks the parameters and answers; throws a Refusal. Null where the answer always is a file. */
  handle: ((call: EndpointCall) => Promise<EndpointResult>) | null
}
