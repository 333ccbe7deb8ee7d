/** The walk of a request through an endpoint, from its parameters to its answer. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Name } from '../words/name.ts'
import { refusalReply, send } from './answer.ts'
import type { Download } from './download.ts'
import type { Endpoint } from './endpoint.ts'
import { enterLane } from './entry.ts'
import type { Caller } from './gate.ts'
import { addObserved, rateHeaders } from './headers.ts'
import { inTime } from './in-time.ts'
import type { Parameters } from './parameters.ts'
import { refusalOf, type Site } from './site.ts'
import type { Permit } from './unit.ts'
import { type FileAsk, walkFile } from './walk-file.ts'
import { readParameters } from './wire.ts'

/** Milliseconds for which an answer waits for a unit to be back. */
const RELEASE = 1_000

/**
 * Size, token, quota, plan and add-on, parameters, data: the checks in the contract's order. The call's unit is spent when
 * the outcome is known and before the first byte goes out; only what is found, and `no_data`, costs one. HEAD counts like
 * its GET: status and Content-Length are an answer.
 */
export async function walk(
  site: Site,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { facts, retrieval, shelf, gate, meter, keyring, outlet } = site
  let caller: Caller | null = null
  let permit: Permit | null = null
  try {
    const parameters = readParameters(request)
    if (endpoint.download?.isAsked(parameters))
      return await walkFile(site, fileAsk(site, endpoint, parameters), request, reply)
    caller = await gate.admit(parameters.token, request.ip)
    const miss = missOf(site, caller)
    await enterLane(site, caller, request.visit, reply)
    permit = await meter.enter(caller)
    endpoint.admit?.(caller, parameters)
    const call = { parameters, caller, facts, retrieval, shelf, keys: keyring.keys, miss }
    const { body, observed } = await endpoint.answer!(call)
    permit.charge(endpoint.name)
    const headers = rateHeaders(caller, permit.remaining)
    if (observed !== null) addObserved(headers, observed)
    await send(outlet, request, reply, { status: 200, body, headers })
  } catch (thrown) {
    const refusal = refusalOf(site, request.id, thrown)
    if (refusal.key === 'no_data') permit?.charge(endpoint.name)
    else await released(permit)
    const isSpent = refusal.key === 'rate_limited'
    const remaining = isSpent ? 0 : permit?.remaining
    const headers = caller === null || remaining === undefined ? [] : rateHeaders(caller, remaining)
    await send(outlet, request, reply, refusalReply(refusal, endpoint.envelope, headers))
  }
}

/** A unit is back before the answer goes out, unless the ledger takes its time: then the meter sees to it. */
async function released(permit: Permit | null): Promise<void> {
  if (permit !== null) await inTime(permit.release(), RELEASE)
}

function missOf({ wishing }: Site, { account }: Caller): (name: Name) => void {
  return (name) => wishing(account.id, name)
}

function fileAsk({ shelf }: Site, { name, admit, download }: Endpoint, parameters: Parameters): FileAsk {
  const find = async (caller: Caller): Promise<Download> => {
    admit?.(caller, parameters)
    return download!.find(caller, shelf, parameters)
  }
  return { endpoint: name, token: () => parameters.token, find }
}
