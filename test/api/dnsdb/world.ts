/** A store with the histories that the tests of the DNSDB API ask for, and requests to that API. */

import assert from 'node:assert/strict'
import { parseInstant } from '../../../src/values/time.ts'
import { hosted, look, NXDOMAIN, ok } from '../../spec/observations.ts'
import { makeWorld, type World } from '../../spec/world.ts'

export const EIGHT = '2026-11-19T08:00:00Z'
export const NINE = '2026-11-19T09:00:00Z'
export const TEN = '2026-11-19T10:00:00Z'
export const at = (text: string): number => parseInstant(text)!

const soa = (serial: number, primary = 'ns1.dns.example') => ({
  primary_nameserver: primary,
  admin_email: 'host.master@dns.example',
  serial,
  refresh_seconds: 7200,
  retry_seconds: 3600,
  expire_seconds: 1_209_600,
  minimum_ttl_seconds: 300,
})

/** Names with a history: www.shop.example moves and comes back, gone.example vanishes, the others stay. */
export async function dnsdbWorld(): Promise<World> {
  const world = await makeWorld()
  const moving = (address: string, time: string) => look('www.shop.example', { dns: ok({ A: [address] }) }, time)
  await world.ingest(
    moving('192.0.2.1', EIGHT),
    moving('192.0.2.2', NINE),
    moving('192.0.2.1', TEN),
    look('shop.example', { dns: ok({ A: ['192.0.2.1', '192.0.2.7'], SOA: [soa(1)] }) }, EIGHT),
    look(
      'shop.example',
      {
        dns: ok({
          A: ['192.0.2.1', '192.0.2.7'],
          MX: [{ priority: 10, mail_server: 'mx.mail.example' }],
          NS: ['ns1.dns.example', 'ns2.dns.example'],
          TXT: [['v=spf1 mx -all'], ['a "b"', 'c']],
          SOA: [soa(2)],
        }),
      },
      NINE,
    ),
    look('alias.example', { dns: ok({ CNAME: ['www.shop.example'] }) }, NINE),
    look('other.example', { dns: ok({ MX: [{ priority: 20, mail_server: 'mx.mail.example' }] }) }, NINE),
    look('gone.example', { dns: ok({ A: ['192.0.2.7'] }) }, EIGHT),
    look('gone.example', { dns: NXDOMAIN }, NINE),
    hosted('six.example', ['2001:db8::5'], TEN),
  )
  return world
}

export type Row = Record<string, unknown>
export type Answer = { status: number; headers: Headers; text: string }

/** Asks the API with a token as X-API-Key. */
export async function ask(
  world: World,
  path: string,
  token: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await fetch(`${world.address}/dnsdb/v2/${path}`, {
    method,
    headers: { 'X-API-Key': token, ...headers },
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The objects of an answer and how it ended. Checks its frame. */
export async function stream(world: World, path: string, token: string): Promise<{ rows: Row[]; end: Row }> {
  const { status, headers, text } = await ask(world, path, token)
  assert.equal(status, 200, text)
  assert.equal(headers.get('content-type'), 'application/x-ndjson')
  const [begin, ...lines] = text.trimEnd().split('\n')
  assert.equal(begin, '{"cond":"begin"}')
  const end = JSON.parse(lines.pop()!) as Row
  assert.ok(['succeeded', 'limited'].includes(end.cond as string), text)
  return { rows: lines.map((line) => (JSON.parse(line) as { obj: Row }).obj), end }
}
