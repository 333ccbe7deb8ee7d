/** A `fetch` that gives prepared answers, and clients that use it and never wait. */

import { type ClientOptions, DomaindexClient, type Fetch } from '../../client/src/client.ts'

/** A response, or the error that fetch throws. */
export type Answer = Response | Error
export type Sent = { url: string; init: RequestInit }

/** Gives the answers one after another. `sent` has the requests so far. */
export function fetchOf(...answers: Answer[]): { fetch: Fetch; sent: Sent[] } {
  const sent: Sent[] = []
  const fetch: Fetch = async (url, init) => {
    const answer = answers[sent.length]
    sent.push({ url, init })
    if (answer === undefined) throw new Error(`There is no answer to request ${sent.length}.`)
    if (answer instanceof Error) throw answer
    return answer
  }
  return { fetch, sent }
}

/** A client whose server gives these answers. `waits`: the milliseconds that it would have waited. */
export function clientOf(answers: Answer[], options: Partial<ClientOptions> = {}) {
  const { fetch, sent } = fetchOf(...answers)
  const waits: number[] = []
  const wait = async (ms: number): Promise<void> => void waits.push(ms)
  const client = new DomaindexClient({
    server: 'https://api.example.com',
    token: 'secret-token',
    fetch,
    wait,
    random: () => 0.5,
    ...options,
  })
  return { client, sent, waits }
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers })
}

/** A body whose chunks are these bytes; an Error breaks it off. */
export function streamOf(...chunks: (Uint8Array | Error)[]): ReadableStream<Uint8Array> {
  let position = 0
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks[position++]
      if (chunk === undefined) controller.close()
      else if (chunk instanceof Error) controller.error(chunk)
      else controller.enqueue(chunk)
    },
  })
}

/** All rows of an iterator. */
export async function collect<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = []
  for await (const row of rows) all.push(row)
  return all
}
