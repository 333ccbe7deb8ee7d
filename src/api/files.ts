/** /files: every file by its name, for who may have it through /daily or /snapshot. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseFileName } from '../nightly/shelf.ts'
import type { Download, Reading } from './download.ts'
import type { EndpointName } from './endpoint.ts'
import { admitDaily, openDaily } from './endpoints/daily.ts'
import { admitSnapshot, openSnapshot } from './endpoints/snapshot.ts'
import { Refusal } from './errors.ts'
import type { Caller } from './gate.ts'
import type { Site } from './site.ts'
import { walkFile } from './walk-file.ts'
import { bearerOf } from './wire.ts'

/** Answers a request for one file, whose token comes as a header; the call is noted as one of the endpoint that has the file. */
export function answerFile(site: Site, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { filename = '' } = request.params as { filename?: string }
  const find = (caller: Caller): Promise<Download> => findFile(caller, site.shelf, filename)
  const endpoint = endpointOf(filename)
  request.visit.endpoint = endpoint
  return walkFile(site, { endpoint, token: () => bearerOf(request), find }, request, reply)
}

async function findFile(caller: Caller, shelf: Reading, filename: string): Promise<Download> {
  const file = parseFileName(filename)
  if (file === null) throw new Refusal('no_data', { msg: 'There is no file of this name.' })
  const { name, kind, date } = file
  if (kind === 'snapshot' || kind === 'enriched') {
    admitSnapshot(caller.account, kind)
    return openSnapshot(shelf, name)
  }
  admitDaily(caller)
  return openDaily(caller, shelf, kind, date)
}

function endpointOf(filename: string): EndpointName {
  return filename.startsWith('domains-') ? 'snapshot' : 'daily'
}
