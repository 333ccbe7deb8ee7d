/**
 * Yardsticks (b), (c) and (d): a careful server with express 5 and pg. It keeps connections open and uses a pool on the
 * local socket, named prepared statements, pages by key, and gzip level 1 in node:zlib's threads. Routes:
 * /point            (b) one point query by primary key
 * /v1.0/lookup      (c) the same job: token, facts and both counts
 * /v1.0/reverseip   (d) pages of an address, rows formatted as JSON by express
 * /text/reverseip   (d) the same, with the JSON array made by PostgreSQL (json_agg)
 */

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import express from 'express'
import pg from 'pg'
import { connectionConfig } from '../world/postgres.ts'

type Response = Parameters<Parameters<ReturnType<typeof express>['post']>[1]>[1]
type Request = Parameters<Parameters<ReturnType<typeof express>['post']>[1]>[0]

const pool = new pg.Pool({ ...connectionConfig(process.env.PG_SOCKET!), max: Number(process.env.PG_POOL ?? 16) })
const compress = promisify(gzip)
const GZIP_BYTES = 1024
pg.types.setTypeParser(pg.types.builtins.TIMESTAMP, (text) => text.replace(' ', 'T'))

const POINT = { name: 'point', text: 'select name, ip, ssl, has_website from domain where name = $1' }
const TOKEN = {
  name: 'token',
  text: 'select a.id, a.plan from token t join account a on a.id = t.account where t.hash = $1 and a.active',
}
const LOOKUP = {
  name: 'lookup',
  text: `select has_website, redirect_to_https, redirect_to_www, redirects_to is not null as redirect_to_domain, only_with_www,
      ssl, ip, social_networks, social_accounts,
      coalesce((select sources from target where target = d.name), 0)::text as redirect_count,
      coalesce((select sum(names - 1) from address where address = any(d.addresses)), 0)::text as reverse_ip_count
    from domain d where name = $1`,
}
const PAGE = {
  name: 'page',
  text: 'select name as target, host(address) as ip, since from presence where address = $1 and name > $2 order by name limit $3',
}
const TEXT_PAGE = {
  name: 'text',
  text: `select json_agg(row)::text as rows, max(target) as last, count(*)::int as count from (
      select name as target, host(address) as ip, since from presence where address = $1 and name > $2 order by name limit $3) row`,
}

const app = express()
app.disable('x-powered-by').disable('etag').set('query parser', false)
app.use(express.json())
app.post('/point', async ({ body }, response) => {
  const { rows } = await pool.query({ ...POINT, values: [body.query] })
  response.json(rows[0])
})
app.post('/v1.0/lookup', async ({ body }, response) => {
  if (!(await isKnown(body.token))) return response.status(401).json({ error: 'token_invalid' })
  const { rows } = await pool.query({ ...LOOKUP, values: [body.query] })
  if (rows.length === 0) return response.status(404).json({ error: 'no_data' })
  const { redirect_to_domain, only_with_www, ssl, ip, social_networks, social_accounts, ...rest } = rows[0]
  const result = {
    has_website: yesOrNo(rest.has_website),
    redirect_to_https: yesOrNo(rest.redirect_to_https),
    redirect_to_www: yesOrNo(rest.redirect_to_www),
    redirect_to_domain: yesOrNo(redirect_to_domain),
    only_with_www: yesOrNo(only_with_www),
    only_dns_no_web: ip === 'noip' ? 'yes' : 'no',
    ssl,
    ip,
    redirect_count: rest.redirect_count,
    reverse_ip_count: rest.reverse_ip_count,
    social_networks,
    social_accounts,
  }
  response.json({ meta: { query: body.query, rcode: 200, msg: 'ok' }, result })
})
app.post('/v1.0/reverseip', async (request, response) => {
  const { token, query, limit, next } = request.body
  if (!(await isKnown(token))) return response.status(401).json({ error: 'token_invalid' })
  const { rows } = await pool.query({ ...PAGE, values: [query, next ?? '', limit] })
  const last = rows.length === limit ? rows[rows.length - 1].target : null
  const meta = { query, rcode: 200, msg: 'ok', ips: [query], ip_count: 1, limit, max_limit: 50_000, next: last }
  await sendText(request, response, JSON.stringify({ meta, result: rows }))
})
app.post('/text/reverseip', async (request, response) => {
  const { token, query, limit, next } = request.body
  if (!(await isKnown(token))) return response.status(401).json({ error: 'token_invalid' })
  const { rows } = await pool.query({ ...TEXT_PAGE, values: [query, next ?? '', limit] })
  const { rows: text, last, count } = rows[0]
  const nextName = count === limit ? last : null
  const meta = { query, rcode: 200, msg: 'ok', ips: [query], ip_count: 1, limit, max_limit: 50_000, next: nextName }
  await sendText(request, response, `{"meta":${JSON.stringify(meta)},"result":${text ?? '[]'}}`)
})

async function isKnown(token: unknown): Promise<boolean> {
  if (typeof token !== 'string') return false
  const { rows } = await pool.query({ ...TOKEN, values: [createHash('sha256').update(token).digest()] })
  return rows.length === 1
}

async function sendText({ headers }: Request, response: Response, text: string): Promise<void> {
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  if (!headers['accept-encoding']?.includes('gzip') || text.length < GZIP_BYTES) return void response.end(text)
  response.setHeader('Content-Encoding', 'gzip')
  response.setHeader('Vary', 'Accept-Encoding')
  response.end(await compress(text, { level: constants.Z_BEST_SPEED }))
}

function yesOrNo(value: boolean): 'yes' | 'no' {
  return value ? 'yes' : 'no'
}

const server = createServer(app).listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
server.keepAliveTimeout = 75_000
