/** The declaration of an endpoint: its name, parameters, response, errors and handlers. */

import type { SimilarityService } from '../../similar/query/similarity-service.ts'
import type { InverseReader } from '../../store/port/inverse.ts'
import type { FactsReader, LastObserved } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { Envelope, ErrorKey } from '../http/errors.ts'
import type { FileDownload, ReadableFileStore } from '../http/files/file-response.ts'
import type { Headers } from '../http/headers.ts'
import type { Parameters } from '../http/parameters.ts'
import type { ResponseBody } from '../http/write-parts.ts'
import type { CursorKeys } from '../signing/cursor.ts'
import type { JsonSchema, ObjectSchema } from './schema.ts'

/**
 * The names of endpoints: the seven under `/v1.0/`, those of the profiles of a domain, an address and a certificate,
 * `search`, `lookalikes`, the names of a day (`registered`, `dropped`), `events`, the `preview` of a watch, passive DNS (`pdns`), and `uses`, a call
 * of the web page.
 */
export type EndpointName =
  | V1EndpointName
  | 'domain'
  | 'ip'
  | 'webhistory'
  | 'redirecthistory'
  | 'certificate'
  | 'certificatehistory'
  | 'namedcertificates'
  | 'search'
  | 'registered'
  | 'dropped'
  | 'lookalikes'
  | 'events'
  | 'preview'
  | 'pdns'
  | 'uses'
export type V1EndpointName = 'lookup' | 'redirect' | 'reverseip' | 'dnshistory' | 'daily' | 'snapshot' | 'similar'

/** One admitted request. `onUnknownName` is called with a name that is not known, which may cause a crawl request. */
export type EndpointCall = {
  parameters: Parameters
  caller: Caller
  facts: FactsReader
  inverse: InverseReader
  similarSearch: SimilarityService
  fileStore: ReadableFileStore
  keys: CursorKeys
  onUnknownName: (name: DomainName) => void
}

/**
 * A response with status 200. `type`: the content type of a body that is not JSON. `headers`: further headers.
 * `isFree`: it costs no unit. `lastObserved`: when the requested domain was last observed; null if there is none. `release` is called when the body
 * is sent.
 */
export type EndpointResult = {
  body: ResponseBody
  type?: string
  headers?: Headers
  isFree?: boolean
  lastObserved: LastObserved | null
  release?: (() => void) | undefined
}

export type Endpoint = {
  name: EndpointName
  /** One line, for the list of endpoints. */
  summary: string
  /** The description in Markdown. */
  description: string
  /** The envelope of its errors. */
  envelope: Envelope
  /** The parameters except `token`. */
  parameters: ObjectSchema
  /** The JSON body of status 200; null if the response is always a file. */
  response: JsonSchema | null
  /** An example of that body. */
  example?: object
  /** The file response; null if the endpoint has none. */
  file: { type: string; description: string } | null
  /** The errors that are not common to all endpoints. */
  errors: readonly ErrorKey[]
  /** Checks plan and add-ons. Throws ApiError. Missing if every plan includes the endpoint. */
  authorize?: (caller: Caller, parameters: Parameters) => void
  /** For endpoints with files: whether a file is requested, and the file. `find` throws ApiError. */
  download?: {
    isRequested: (parameters: Parameters) => boolean
    find: (caller: Caller, fileStore: ReadableFileStore, parameters: Parameters) => Promise<FileDownload>
  }
  /** Checks the parameters and returns the response. Throws ApiError. Null if the response is always a file. */
  handle: ((call: EndpointCall) => Promise<EndpointResult>) | null
}
