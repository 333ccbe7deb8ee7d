/** The types of s3rver that the tests use. The package has none. */

declare module '@20minutes/s3rver' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export type Context = {
    method: string
    path: string
    query: Record<string, string | undefined>
    req: IncomingMessage
    res: ServerResponse
    status: number
    type: string
    body: unknown
    set(name: string, value: string): void
  }
  export type Middleware = (context: Context, next: () => Promise<void>) => Promise<void>
  export default class S3rver {
    middleware: Middleware[]
    store: { listObjects(...options: unknown[]): Promise<object> }
    constructor(options: object)
    run(): Promise<{ port: number }>
    close(): Promise<void>
  }
}
