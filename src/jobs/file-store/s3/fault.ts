/** Messages for the errors of S3: what is wrong, and what the operator can do. */

import { FileStoreFault } from '../file-store-fault.ts'

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

/** The fault of a request to the place `url`. It keeps the error as its cause. */
export function s3Fault(error: unknown, url: string): FileStoreFault {
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
export function isMissing({ cause }: Error): boolean {
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
