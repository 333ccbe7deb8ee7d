/**
 * A server of S3 for tests, on loopback: s3rver with what it lacks. It cannot abort uploads or list them, its tokens of
 * a next page need a cipher that OpenSSL no longer has, and it overwrites an object while others read it.
 */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import S3rver, { type Context, type Middleware } from '@20minutes/s3rver'

export type S3Server = {
  endpoint: string
  /** The folder of the objects of the bucket. */
  folder: string
  /** Handles each request before the server; replace it to count requests or to inject failures. */
  before: Middleware
  /** The ids of the unfinished uploads. */
  uploads(): string[]
  close(): Promise<void>
}

export const S3_BUCKET = 'domaindex-test'
export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }

/** Starts a server with an empty bucket, and sets the credentials of this process. */
export async function startS3Server(t: Pick<TestContext, 'after'>): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'domaindex-s3-'))
  Object.assign(process.env, S3_CREDENTIALS)
  const options = {
    ...{ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets: [{ name: S3_BUCKET }] },
    allowMismatchedSignatures: true, // s3rver computes another signature for /BUCKET/
  }
  const rver = new S3rver(options)
  const folder = join(directory, S3_BUCKET)
  const uploadsFolder = join(folder, '._S3rver_uploads')
  mkdirSync(folder, { recursive: true })
  const uploads = () => uploadIds(uploadsFolder)
  const close = async () => {
    await rver.close()
    rmSync(directory, { recursive: true, force: true })
  }
  const server: S3Server = { endpoint: '', folder, before: (_, next) => next(), uploads, close }
  rver.middleware.unshift(
    (context, next) => server.before(context, next),
    (context, next) => answerUploads(uploadsFolder, context, next),
    answerPages,
    replaceAtomically(),
  )
  const { listObjects } = rver.store
  rver.store.listObjects = async (...listed) => ({
    ...(await listObjects.apply(rver.store, listed)),
    isTruncated: false,
  })
  server.endpoint = `http://127.0.0.1:${(await rver.run()).port}`
  t.after(close)
  return server
}

function uploadIds(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Lists and aborts unfinished uploads. */
async function answerUploads(folder: string, context: Context, next: () => Promise<void>): Promise<void> {
  const { method, query, path } = context
  if (method === 'DELETE' && query.uploadId !== undefined) {
    rmSync(join(folder, query.uploadId), { recursive: true, force: true })
    context.status = 204
  } else if (method === 'GET' && query.uploads !== undefined && path.split('/').filter(Boolean).length === 1) {
    const listed = uploadIds(folder).map((id) => {
      const started = statSync(join(folder, id)).mtime.toISOString()
      const key = readFileSync(join(folder, id, 'key'), 'utf8')
      return `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${started}</Initiated></Upload>`
    })
    context.type = 'application/xml'
    context.body = `<ListMultipartUploadsResult>${listed.join('')}</ListMultipartUploadsResult>`
  } else await next()
}

/** Adds the token of the next page to a full page of objects. */
async function answerPages(context: Context, next: () => Promise<void>): Promise<void> {
  const { 'continuation-token': token, ...query } = context.query
  if (query['list-type'] !== '2') return next()
  if (token !== undefined) context.query = { ...query, 'start-after': Buffer.from(token, 'base64').toString() }
  await next()
  const keys = [...String(context.body).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key!)
  if (keys.length < Number(query['max-keys'])) return
  const nextToken = Buffer.from(keys.at(-1)!).toString('base64')
  context.body = String(context.body).replace(
    '</ListBucketResult>',
    `<NextContinuationToken>${nextToken}</NextContinuationToken></ListBucketResult>`,
  )
}

/** Answers requests for one manifest one after another. */
function replaceAtomically(): Middleware {
  const last = new Map<string, Promise<unknown>>()
  return async ({ path, res }, next) => {
    if (!path.endsWith('.json')) return next()
    const before = last.get(path)
    last.set(path, new Promise((resolve) => res.once('close', resolve)))
    await before
    await next()
  }
}
