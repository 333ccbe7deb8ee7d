/** The paths of digests: mail with the events of an account. */

import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { nextDigest } from '../../delivery/digest-schedule.ts'
import type { ApiContext } from '../context/context.ts'
import { digestBody, readDigestPeriod } from '../endpoints/watch/digest.ts'
import { ApiError } from '../http/errors.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { type Parameters, readTextParameter } from '../http/parameters.ts'
import { readBody } from '../http/request.ts'
import { type ApiResponse, jsonResponse, respond } from '../http/response.ts'
import { addRoute } from '../http/routes.ts'
import { type AccountHandler, addAccountRoute } from './account-routes.ts'

const KEY_BYTES = 16
const NO_MAIL = 'This service cannot send email: the operator has not set an SMTP server.'

export function addDigestRoutes(app: FastifyInstance, context: ApiContext): void {
  addAccountRoute(app, context, '/digest', { GET: readDigest, HEAD: readDigest, PUT: setDigest })
  addRoute(app, context, '/digest/unsubscribe', ['GET', 'HEAD', 'POST'], (request, reply) =>
    respond(context, request, reply, () => unsubscribe(context, request)),
  )
}

const readDigest: AccountHandler = async ({ ledger }, { account }) =>
  jsonResponse(200, digestBody(await ledger.digest(account.id), account.email))

const setDigest: AccountHandler = async (context, { account, now }, request) => {
  const { ledger, events, mailer } = context
  const period = readDigestPeriod(readBody(request))
  if (period === 'off') await ledger.endDigest(account.id)
  else if (mailer === null) throw new ApiError('mail_unavailable', { msg: NO_MAIL })
  else {
    const due = nextDigest(period, now)
    await ledger.setDigest(account.id, { period, due, key: randomBytes(KEY_BYTES), seen: await events.lastEvent() })
  }
  return jsonResponse(200, digestBody(await ledger.digest(account.id), account.email))
}

/** POST ends the digest (RFC 8058). GET shows a button, because programs follow the links of mail. */
async function unsubscribe({ ledger }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const key = readTextParameter(request.query as Parameters, 'key', 'value_invalid') ?? ''
  const isPost = request.method === 'POST'
  const isEnded = isPost && (await ledger.endDigestByKey(Buffer.from(key, 'base64url')))
  return {
    status: isPost && !isEnded ? 404 : 200,
    body: [page(isEnded ? ENDED : isPost ? INVALID : BUTTON)],
    headers: ['Content-Security-Policy', CONTENT_POLICY],
    type: 'text/html; charset=utf-8',
  }
}

const CONTENT_POLICY = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
const ENDED = '<p>You get no more mail about your watches.</p>'
const INVALID =
  '<p>This link is not valid. It is incomplete, or the mail has ended already. Open the link of a newer mail, or sign ' +
  'in and look at the page of your watches.</p>'
/** A form without an action sends to the address of the page. */
const BUTTON = '<form method="post"><button>Stop the mail about your watches</button></form>'

function page(main: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mail about your watches</title></head>
<body><main><h1>Mail about your watches</h1>${main}</main></body>
</html>
`
}
