/** The paths of webhooks. */

import type { FastifyInstance } from 'fastify'
import { makeWebhookKey, sealWebhookKey, webhookSecretText } from '../../delivery/webhook-key.ts'
import type { ApiContext } from '../context/context.ts'
import { deliveryBody, readNewWebhook, readRedelivered, webhookBody } from '../endpoints/watch/webhooks.ts'
import { ApiError, overloadedError } from '../http/errors.ts'
import { readBody, readOptionalBody } from '../http/request.ts'
import { jsonResponse, NO_CONTENT } from '../http/response.ts'
import { type AccountHandler, addAccountRoute, idIn } from './account-routes.ts'

/** Milliseconds for which a request waits for the result of a test, and between two polls for it. */
const TEST_TIMEOUT_MS = 20_000
const TEST_POLL_MS = 250

export function addWebhookRoutes(app: FastifyInstance, context: ApiContext): void {
  addAccountRoute(app, context, '/webhooks', { GET: listWebhooks, HEAD: listWebhooks, POST: createWebhook })
  addAccountRoute(app, context, '/webhooks/:id', { DELETE: removeWebhook })
  addAccountRoute(app, context, '/webhooks/:id/test', { POST: testWebhook })
  addAccountRoute(app, context, '/webhooks/:id/deliveries', { GET: listDeliveries, HEAD: listDeliveries })
  addAccountRoute(app, context, '/webhooks/:id/redeliver', { POST: redeliver })
}

const listWebhooks: AccountHandler = async ({ ledger }, { account, limits, now }) => {
  const webhooks = await ledger.webhooks(account.id)
  return jsonResponse(200, { webhooks: webhooks.map((each) => webhookBody(each, now)), max: limits.webhooks })
}

const createWebhook: AccountHandler = async (context, { account, limits, now }, request) => {
  const { ledger, events, allowsPrivateWebhooks: allowsPrivate } = context
  const known = new Set((await ledger.watches(account.id)).map(({ id }) => id))
  const { url, watches } = readNewWebhook(readBody(request), { known, allowsPrivate })
  const secret = makeWebhookKey()
  const key = sealWebhookKey(await ledger.secrets(now), secret)
  const webhook = { url, watches, key, seen: await events.lastEvent() }
  const created = await ledger.createWebhook(limits.webhooks, account.id, webhook, now)
  if (created === null)
    throw new ApiError('conflict', {
      msg: `The plan allows ${limits.webhooks} webhooks: remove one, or ask the operator to change your plan.`,
    })
  return jsonResponse(201, { ...webhookBody(created, now), secret: webhookSecretText(secret) })
}

const removeWebhook: AccountHandler = async ({ ledger }, { account }, request) => {
  if (!(await ledger.removeWebhook(account.id, idIn(request)))) throw noWebhook()
  return NO_CONTENT
}

/** Another process sends the message, because no worker connects to the internet. */
const testWebhook: AccountHandler = async (context, { account, now }, request) => {
  const { ledger, monotonicMs, wait, responses } = context
  const webhook = idIn(request)
  const test = await ledger.requestTest(account.id, webhook, now)
  if (test === null) throw noWebhook()
  const end = monotonicMs() + TEST_TIMEOUT_MS
  while (monotonicMs() < end && !responses.isDraining) {
    const result = await ledger.testResult(account.id, webhook, test)
    if (result !== null) return { status: 200, body: [result], headers: [] }
    await wait(TEST_POLL_MS)
  }
  throw overloadedError('No process has sent the message yet: the operator can check DOMAINDEX_DELIVERIES.')
}

const listDeliveries: AccountHandler = async ({ ledger }, { account, now }, request) => {
  const id = idIn(request)
  const webhook = (await ledger.webhooks(account.id)).find((each) => each.id === id)
  const deliveries = await ledger.deliveries(account.id, id)
  if (webhook === undefined || deliveries === null) throw noWebhook()
  return jsonResponse(200, {
    webhook: webhookBody(webhook, now),
    deliveries: deliveries.map((each) => deliveryBody(each, webhook)),
  })
}

const redeliver: AccountHandler = async ({ ledger }, { account, now }, request) => {
  const event = readRedelivered(readOptionalBody(request))
  const redelivered = await ledger.redeliver(account.id, idIn(request), event, now)
  if (redelivered === null) throw noWebhook()
  return jsonResponse(200, { redelivered })
}

function noWebhook(): ApiError {
  return new ApiError('not_found', { msg: 'The account has no webhook with this ID.' })
}
