/** The walk of a request for a file, from its token to its last byte. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { refusalReply, send } from './answer.ts'
import { type Download, type Part, partOf, sendPart } from './download.ts'
import { enterLane } from './entry.ts'
import { overloaded, Refusal } from './errors.ts'
import type { Caller } from './gate.ts'
import { type Headers, rateHeaders } from './headers.ts'
import { refusalOf, type Site } from './site.ts'

/** What is asked for: `endpoint` is whose call it is, `token` reads the token, `find` checks plan, add-on, parameters and data; both throw the Refusal. */
export type FileAsk = { endpoint: string; token: () => unknown; find: (caller: Caller) => Promise<Download> }

/**
 * The file is looked for before a unit is taken, because one that was paid for today costs nothing more; that the budget is
 * spent is said all the same before whatever else is wrong. It is paid for before its first byte goes out.
 */
export async function walkFile(
  site: Site,
  { endpoint, token, find }: FileAsk,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  let caller: Caller | null = null
  let remaining: number | null = null
  let found: Download | Refusal | null = null
  try {
    caller = await site.gate.admit(token(), request.ip)
    const leave = await enterLane(site, caller, request.visit, reply)
    found = await attempt(find, caller)
    const part = found instanceof Refusal ? null : partOf(request, found)
    if (part?.range) enterDownloads(site, caller, request, reply)
    remaining = await settle(site, caller, endpoint, request.method, found, part)
    if (found instanceof Refusal || part === null) throw found
    leave()
    await sendPart(site.outlet, request, reply, found, withBudget(part, caller, remaining))
  } catch (thrown) {
    const refusal = refusalOf(site, request.id, thrown)
    if (reply.raw.headersSent) return
    if (refusal.key === 'rate_limited') remaining = 0
    const headers = caller === null || remaining === null ? [] : rateHeaders(caller, remaining)
    await send(
      site.outlet,
      request,
      reply,
      refusalReply(refusal, 'top', [...headers, ...challengeOf(request, refusal)]),
    )
  } finally {
    if (found !== null && !(found instanceof Refusal)) await found.opened.close()
  }
}

/** A refusal is the outcome; anything else that is thrown is a fault. */
async function attempt(find: FileAsk['find'], caller: Caller): Promise<Download | Refusal> {
  try {
    return await find(caller)
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown
    throw thrown
  }
}

/** Takes what the outcome costs; returns the units that are left. Throws `rate_limited`. */
async function settle(
  { meter }: Site,
  caller: Caller,
  endpoint: string,
  method: string,
  found: Download | Refusal,
  part: Part | null,
): Promise<number> {
  if (!(found instanceof Refusal)) {
    const { name } = found.opened.manifest
    if (part?.range) return meter.pay(caller, name, endpoint)
    return (await meter.look(caller, name)).remaining
  }
  const isCounted = found.key === 'no_data' && method !== 'HEAD'
  const permit = await (isCounted ? meter.enter(caller) : meter.look(caller))
  permit.charge(endpoint)
  return permit.remaining
}

/** Downloads do not take the place of calls: they have lanes of their own. Throws where there are too many, or the client is gone. */
function enterDownloads(
  { downloads }: Site,
  { account }: Caller,
  { visit }: FastifyRequest,
  { raw }: FastifyReply,
): void {
  if (raw.destroyed) throw overloaded('The client is gone.') // its visit has ended, and would not end this
  void downloads.enter(account.id)
  visit.end.push(() => downloads.leave(account.id))
}

function withBudget(part: Part, caller: Caller, remaining: number): Part {
  return { ...part, headers: [...part.headers, ...rateHeaders(caller, remaining)] }
}

/** Outside /v1.0/ the token comes as a header, and who sends none is told so. */
function challengeOf({ visit }: FastifyRequest, { status }: Refusal): Headers {
  return status === 401 && !visit.path?.startsWith('/v1.0/') ? ['WWW-Authenticate', 'Bearer'] : []
}
