/** Types of the packages without their own, as far as the benches use them. */

declare module 'express' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  type Request = IncomingMessage & { body: Record<string, unknown> }
  type Response = ServerResponse & { json(body: unknown): Response; status(code: number): Response }
  type Handler = (request: Request, response: Response) => unknown
  type App = RequestListener & {
    use(handler: unknown): App
    post(path: string, handler: Handler): App
    disable(setting: string): App
    set(setting: string, value: unknown): App
  }
  const express: { (): App; json(): unknown }
  export default express
}

declare module 'autocannon' {
  type Result = {
    requests: { average: number; total: number }
    latency: { average: number; p50: number; p99: number }
    non2xx: number
    errors: number
    duration: number
    throughput: { total: number }
  }
  export default function autocannon(options: Record<string, unknown>): Promise<Result>
}
