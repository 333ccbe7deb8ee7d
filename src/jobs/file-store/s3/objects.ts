/** Requests to one place in S3, each with retries within a bounded time. Every error is a FileStoreFault. */

import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { FileStoreFault } from '../build-fault.ts'
import type { S3Location } from '../location.ts'

/** The fields of an error of the client of S3 that matter here. */
type S3Error = Error & { Code?: string; code?: string; $metadata?: { httpStatusCode?: number } }

const ACCESS_DENIED = 'access denied: allow these credentials to list, read, write and delete the objects of this place'
const ADVICE: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist: create it, or correct DOMAINDEX_FILES',
  CredentialsProviderError:
    'there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE and its file',
  InvalidAccessKeyId: 'the access key is unknown: check AWS_ACCESS_KEY_ID, or the profile',
  SignatureDoesNotMatch: 'the secret access key is wrong: check AWS_SECRET_ACCESS_KEY, or the profile',
  ExpiredToken: 'the credentials have expired: renew them',
  AccessDenied: ACCESS_DENIED,
  PermanentRedirect: 'the bucket is in another region: correct DOMAINDEX_FILES_REGION',
  AuthorizationHeaderMalformed: 'the bucket is in another region: correct DOMAINDEX_FILES_REGION',
  AbortError: 'S3 does not respond: check DOMAINDEX_FILES_ENDPOINT and the network',
  TimeoutError: 'S3 does not respond: check DOMAINDEX_FILES_ENDPOINT and the network',
}

/** `endpoint`: the URL of the server; null for that of Amazon. */
export type S3Options = S3Location & { endpoint: string | null; region: string }

/** An object of a listing. `changed`: milliseconds since 1970, by the clock of S3. */
export type ListedObject = { key: string; etag: string; changed: number }

/** A part of an upload, for its completion. */
export type UploadedPart = { PartNumber: number; ETag: string }

/** Milliseconds that a request may take, including its retries, until its response begins. */
const REQUEST_TIMEOUT_MS = 15_000
/** The same for a request that sends a part of a file. */
const UPLOAD_TIMEOUT_MS = 300_000
/** A body of at most so many bytes or characters is sent at once, so it needs no longer than a request without one. */
const SMALL_BODY = 65_536
const CONNECTION_TIMEOUT_MS = 3_000
const MAX_ATTEMPTS = 4
/** Objects per page of a listing. S3 returns at most 1,000. */
const PAGE_OBJECTS = 1_000
/** Maximum number of connections of a process. Each download holds one. */
const MAX_CONNECTIONS = 4_096

type Options = { abortSignal: AbortSignal }

/** A place in S3. Keys are without its prefix. Credentials: the environment, the usual files, or the machine's role. */
export class S3Objects {
  readonly url: string
  readonly #client: S3Client
  readonly #location: S3Location

  constructor({ bucket, prefix, endpoint, region }: S3Options) {
    const agent = { keepAlive: true, maxSockets: MAX_CONNECTIONS }
    this.url = `s3://${bucket}/${prefix}`
    this.#location = { bucket, prefix }
    this.#client = new S3Client({
      region,
      ...(endpoint !== null && { endpoint, forcePathStyle: true }),
      maxAttempts: MAX_ATTEMPTS,
      requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS, httpAgent: agent, httpsAgent: agent },
      requestChecksumCalculation: 'WHEN_REQUIRED', // servers other than Amazon's may not know the newer checksums
      responseChecksumValidation: 'WHEN_REQUIRED',
    })
  }

  /** The text of a small object and its tag; null if there is none. */
  async text(key: string): Promise<{ text: string; etag: string } | null> {
    const read = async (client: S3Client, options: Options) => {
      const { Body, ETag } = await client.send(new GetObjectCommand(this.#at(key)), options)
      return { text: await Body!.transformToString(), etag: ETag! }
    }
    return this.#run(read).catch(nullIfMissing)
  }

  /** The size of an object in bytes; null if there is none. */
  async size(key: string): Promise<number | null> {
    const command = new HeadObjectCommand(this.#at(key))
    const found = await this.#run((client, options) => client.send(command, options)).catch(nullIfMissing)
    return found && found.ContentLength!
  }

  /** A stream of the bytes from `start` to before `end`. Throws if there is no such object. */
  async range(key: string, start: number, end: number) {
    const command = new GetObjectCommand({ ...this.#at(key), Range: `bytes=${start}-${end - 1}` })
    const { Body, ContentRange } = await this.#run((client, options) => client.send(command, options))
    if (start > 0 && !ContentRange?.startsWith(`bytes ${start}-`))
      throw s3Fault(
        new Error(`it sent ${ContentRange ?? 'the whole object'} instead of bytes from ${start} on`),
        this.url,
      )
    return Body as AsyncIterable<Uint8Array> & { destroy(error?: Error): void }
  }

  /** Lists all objects whose keys begin with `start`, page by page. */
  async list(start: string): Promise<ListedObject[]> {
    const { bucket: Bucket, prefix } = this.#location
    const found: ListedObject[] = []
    for (let ContinuationToken: string | undefined; ; ) {
      const input = { Bucket, Prefix: prefix + start, MaxKeys: PAGE_OBJECTS, ContinuationToken }
      const page = await this.#run((client, options) => client.send(new ListObjectsV2Command(input), options))
      for (const { Key, ETag, LastModified } of page.Contents ?? [])
        found.push({ key: Key!.slice(prefix.length), etag: ETag!, changed: LastModified!.getTime() })
      ContinuationToken = page.NextContinuationToken
      if (ContinuationToken === undefined) return found
    }
  }

  /** Replaces an object atomically. */
  async put(key: string, Body: Uint8Array | string, ContentType: string): Promise<void> {
    const command = new PutObjectCommand({ ...this.#at(key), Body, ContentType })
    const timeoutMs = Body.length > SMALL_BODY ? UPLOAD_TIMEOUT_MS : REQUEST_TIMEOUT_MS
    await this.#run((client, options) => client.send(command, options), timeoutMs)
  }

  /** Does nothing if there is no such object. */
  async delete(key: string): Promise<void> {
    const command = new DeleteObjectCommand(this.#at(key))
    await this.#run((client, options) => client.send(command, options))
  }

  /** Starts an upload in parts and returns its id. The object appears when the upload is completed. */
  async startUpload(key: string): Promise<string> {
    const command = new CreateMultipartUploadCommand({ ...this.#at(key), ContentType: 'application/gzip' })
    return (await this.#run((client, options) => client.send(command, options))).UploadId!
  }

  async uploadPart(key: string, UploadId: string, PartNumber: number, Body: Uint8Array): Promise<UploadedPart> {
    const command = new UploadPartCommand({ ...this.#at(key), UploadId, PartNumber, Body })
    const { ETag } = await this.#run((client, options) => client.send(command, options), UPLOAD_TIMEOUT_MS)
    return { PartNumber, ETag: ETag! }
  }

  async completeUpload(key: string, UploadId: string, Parts: UploadedPart[]): Promise<void> {
    const command = new CompleteMultipartUploadCommand({ ...this.#at(key), UploadId, MultipartUpload: { Parts } })
    await this.#run((client, options) => client.send(command, options), UPLOAD_TIMEOUT_MS)
  }

  async abortUpload(key: string, UploadId: string): Promise<void> {
    const command = new AbortMultipartUploadCommand({ ...this.#at(key), UploadId })
    await this.#run((client, options) => client.send(command, options))
  }

  /** Lists all unfinished uploads whose keys begin with `start`. `started`: milliseconds since 1970. */
  async uploads(start: string): Promise<{ key: string; id: string; started: number }[]> {
    const { bucket: Bucket, prefix } = this.#location
    const found: { key: string; id: string; started: number }[] = []
    for (let marker = {}; ; ) {
      const command = new ListMultipartUploadsCommand({ Bucket, Prefix: prefix + start, ...marker })
      const page = await this.#run((client, options) => client.send(command, options))
      for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
        found.push({ key: Key!.slice(prefix.length), id: UploadId!, started: Initiated!.getTime() })
      if (!page.IsTruncated) return found
      marker = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
    }
  }

  #at(key: string) {
    return { Bucket: this.#location.bucket, Key: this.#location.prefix + key }
  }

  /** Runs a request within a time. The client retries if the server is busy or the connection breaks. */
  async #run<Result>(
    request: (client: S3Client, options: Options) => Promise<Result>,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<Result> {
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), timeoutMs)
    try {
      return await request(this.#client, { abortSignal: controller.signal })
    } catch (error) {
      throw s3Fault(error, this.url)
    } finally {
      clearTimeout(timer)
    }
  }
}

function nullIfMissing(fault: Error): null {
  if (isMissing(fault)) return null
  throw fault
}

/** The fault of a request to the place `url`. It keeps the error as its cause. */
function s3Fault(error: unknown, url: string): FileStoreFault {
  if (error instanceof FileStoreFault) return error
  const { name, message, code, $metadata } = error as S3Error
  const status = $metadata?.httpStatusCode
  const advice = ADVICE[name] ?? statusAdvice(error, status)
  const reason = code ?? (status === undefined ? name : `${status} ${name}`)
  const isLasting = status === undefined ? name === 'CredentialsProviderError' : status < 500 && status !== 429
  const text = `DOMAINDEX_FILES (${url}): ${advice ?? `the request to S3 failed (${reason}): ${message}`}`
  return new FileStoreFault(text, isLasting, error)
}

/** Whether the fault says that an object does not exist. */
function isMissing({ cause }: Error): boolean {
  const { name, $metadata } = (cause ?? {}) as S3Error
  return $metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket' && !isForeign(cause)
}

/** Whether the client could not parse the response, because the server does not speak the protocol of S3. */
function isForeign(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Deserialization error')
}

function statusAdvice(error: unknown, status = 500): string | undefined {
  if (status === 403) return ACCESS_DENIED
  if (status >= 500 || !isForeign(error)) return undefined
  return `the server does not answer as S3 (${status}): check DOMAINDEX_FILES_ENDPOINT`
}
