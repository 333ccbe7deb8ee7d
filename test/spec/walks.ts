/** Reads all pages, as a client does. */

import assert from 'node:assert/strict'
import type { Parameters, Seen, World } from './world.ts'

type Meta = { next?: string | null; limit: number }
export type Page<Row> = { meta: Meta; result: Row[] }

/**
 * Returns the first page and every following one, until `meta.next` is null (redirect, reverseip) or absent
 * (dnshistory).
 */
export async function pages(world: World, endpoint: string, parameters: Parameters): Promise<Seen[]> {
  const seen: Seen[] = []
  let next: string | null | undefined
  do {
    const page = await world.ask(endpoint, next ? { ...parameters, next } : parameters)
    assert.equal(page.status, 200, page.text)
    seen.push(page)
    next = (page.body as { meta: Meta }).meta.next
  } while (next)
  return seen
}

/** Returns all rows of /redirect or /reverseip. */
export async function rowsOf<Row>(world: World, endpoint: string, parameters: Parameters): Promise<Row[]> {
  const seen = await pages(world, endpoint, parameters)
  return seen.flatMap(({ body }) => (body as Page<Row>).result)
}

/** The body's `meta`. */
export function metaOf(seen: Seen): Record<string, unknown> & { next: string } {
  return (seen.body as { meta: Record<string, unknown> & { next: string } }).meta
}
