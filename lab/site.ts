/** A web site of the lab, and the functions that scenarios describe it with. */

import { setTimeout as wait } from 'node:timers/promises'
import type { Kind } from './authority.ts'

/** Bytes of a body. A function is called per request and may yield chunks forever. */
export type Body = string | Uint8Array | (() => Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>)

/** An HTTP response, or the raw bytes to send instead of one, until the client closes. */
export type Reply =
  | { status: number; headers: Readonly<Record<string, string | string[]>>; body: Body }
  | { wire: () => Iterable<string> | AsyncIterable<string> }

/** By path, including its query. */
export type SiteResponse = Reply | ((path: string) => Reply)

/** One host: its http site, its https site and its robots.txt (default: 404). Its certificate is `valid` by default. */
export type Site = { plain: SiteResponse; secure: SiteResponse; robots?: Reply; certificate?: Kind }

export const HTML = 'text/html; charset=utf-8'

export function reply(status: number, body: Body = '', headers: Record<string, string | string[]> = {}): Reply {
  return { status, headers: { 'content-type': HTML, ...headers }, body }
}

/** A page with paragraphs of text, in order. A paragraph that starts with `<` is inserted as HTML. */
export function html(...paragraphs: string[]): string {
  const body = paragraphs.map((each) => (each.startsWith('<') ? each : `<p>${each}</p>`)).join('\n')
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"></head>\n<body>\n${body}\n</body></html>\n`
}

export function page(...paragraphs: string[]): Reply {
  return reply(200, html(...paragraphs))
}

export function redirect(location: string, status = 301): Reply {
  return reply(status, '', { location })
}

/** A page with a meta refresh. */
export function refresh(to: string, seconds = 0): Reply {
  const meta = `<meta http-equiv="refresh" content="${seconds}; url=${to}">`
  return reply(200, `<!doctype html><html><head>${meta}</head><body><p>You are sent on.</p></body></html>`)
}

export function robots(...lines: string[]): Reply {
  return reply(200, `${lines.join('\n')}\n`, { 'content-type': 'text/plain' })
}

/** The same site over http and https. */
export function everywhere(answering: SiteResponse, rest: Partial<Site> = {}): Site {
  return { plain: answering, secure: answering, ...rest }
}

/** Redirects from http to https with the same path, as most sites do. */
export function encrypted(host: string, secure: SiteResponse, rest: Partial<Site> = {}): Site {
  return { plain: (path) => redirect(`https://${host}${path}`), secure, ...rest }
}

/** Redirects every request. */
export function redirectsTo(location: string, status = 301, rest: Partial<Site> = {}): Site {
  return everywhere(redirect(location, status), rest)
}

/** Yields the same item forever. */
export function* forever<T>(piece: T, before: readonly T[] = []): Generator<T> {
  yield* before
  for (;;) yield piece
}

/** Yields the same text forever, with a delay before each. */
export async function* dripFeed(piece: string, before: string): AsyncGenerator<string> {
  yield before
  for (;;) {
    await wait(100, undefined, { ref: false })
    yield piece
  }
}
