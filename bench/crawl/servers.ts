/**
 * The servers that a measured crawl meets: nsd for its names, nginx for its sites, each an ordinary process in a folder
 * of its own.
 */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { makeAuthority } from '../../lab/authority.ts'
import { openResolver, type Server } from '../../src/probe/dns/resolver.ts'
import type { PortMapping } from '../../src/probe/guard.ts'
import type { IpAddress } from '../../src/values/ip-address.ts'
import { freePort } from '../measure/port.ts'
import { end, type Started, start } from '../measure/process.ts'
import { textOf } from '../world/language.ts'
import { diceOf } from '../world/random.ts'

/**
 * What a site does. `page`: http sends to https, which has a page of 30 KB. `secure`: the same with a page of a few
 * bytes.
 * `plain`: http has a page of a few bytes, and there is no https.
 */
export const KINDS = ['page', 'secure', 'plain'] as const
export type Kind = (typeof KINDS)[number]

/** Where a crawl finds them; goes to the measured process as JSON. */
export type Place = { server: Server; stands: PortMapping[]; root: string }
export type Servers = Place & { close(): Promise<void> }

const ZONE = 'bench.example'
/** Sites stand on so many addresses, because a port to one address is free again only after a minute. */
const ADDRESSES = 32
const PAGE_BYTES = 30_000
const DEBIAN = { nsd: '/usr/sbin/nsd', nginx: '/usr/sbin/nginx' }

export function nameOf(kind: Kind, index: number): string {
  return `${kind}-${index}.${ZONE}`
}

/** Starts both on one core; `names` of each kind. Throws where one is not installed. */
export async function startServers(folder: string, names: number, core: number): Promise<Servers> {
  expectInstalled()
  const [dns, http, https] = [await freePort(), await freePort(), await freePort()]
  const { root, identity } = await makeAuthority(Date.now())
  const { key, cert } = await identity('valid', [`*.${ZONE}`])
  writeZones(folder, names, dns)
  writeSites(folder, { key, cert, http, https })
  const started = [
    start([DEBIAN.nsd, '-d', '-c', join(folder, 'nsd.conf')], { core }),
    start([DEBIAN.nginx, '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], { core }),
  ]
  const stands = KINDS.flatMap((kind) =>
    addressesOf(kind).flatMap((address) => [
      { address, port: http, publicPort: 80 },
      { address, port: https, publicPort: 443 },
    ]),
  )
  const server: Server = { address: '127.0.0.1' as IpAddress, port: dns }
  await ready(started, server, stands[0]!, nameOf('plain', names - 1))
  return {
    server,
    stands,
    root,
    close: async () => {
      await Promise.all(started.map((each: Started) => end(each)))
    },
  }
}

function expectInstalled(): void {
  const missing = Object.values(DEBIAN).filter((path) => !existsSync(path))
  if (missing.length === 0) return
  throw new Error(
    `${missing.join(' and ')} is missing: apt-get install nsd nginx-light, and stop the services they start`,
  )
}

/** Waits for both. Throws with what they said where one ended, or does not answer within a minute. */
async function ready(started: readonly Started[], server: Server, site: PortMapping, name: string): Promise<void> {
  const resolver = await openResolver({ servers: [server] })
  for (let tries = 0; tries < 600; tries++) {
    const failed = started.find(({ child }) => child.exitCode !== null)
    if (failed !== undefined) throw new Error(`${failed.child.spawnargs.join(' ')} ended:\n${failed.said()}`)
    const answer = await resolver.resolve(name, 'A')
    if (answer?.outcome === 'records' && (await isOpen(site))) return resolver.close()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`nsd or nginx does not answer:\n${started.map(({ said }) => said()).join('\n')}`)
}

/** Whether somebody listens there. */
export function isOpen({ address, port }: PortMapping): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address)
    const say = (open: boolean) => (): void => {
      socket.destroy()
      resolve(open)
    }
    socket.on('connect', say(true)).on('error', say(false))
  })
}

function addressesOf(kind: Kind): IpAddress[] {
  const third = KINDS.indexOf(kind)
  return Array.from({ length: ADDRESSES }, (_, index) => `127.77.${third}.${index + 1}` as IpAddress)
}

/** Zones of one kind and address are one file: everything in it is relative. */
function writeZones(folder: string, names: number, port: number): void {
  const zones: string[] = []
  for (const kind of KINDS) {
    for (const [index, address] of addressesOf(kind).entries())
      writeFileSync(join(folder, `${kind}-${index}.zone`), zone(address))
    for (let index = 0; index < names; index++) {
      zones.push(`zone:\n  name: "${nameOf(kind, index)}"\n  zonefile: "${kind}-${index % ADDRESSES}.zone"`)
    }
  }
  const files = ['pidfile', 'xfrdfile', 'zonelistfile'].map((key) => `  ${key}: "${join(folder, key)}"`)
  const server = [
    'server:',
    `  ip-address: 127.0.0.1@${port}`,
    '  username: ""',
    '  server-count: 1',
    '  verbosity: 0',
    '  rrl-ratelimit: 0',
    '  rrl-whitelist-ratelimit: 0',
    `  zonesdir: "${folder}"`,
    `  xfrdir: "${folder}"`,
    ...files,
    'remote-control:',
    '  control-enable: no',
  ]
  writeFileSync(join(folder, 'nsd.conf'), `${[...server, ...zones].join('\n')}\n`)
}

function zone(address: IpAddress): string {
  return [
    '$TTL 3600',
    '@ SOA ns1 hostmaster 2026112001 7200 3600 1209600 300',
    '@ NS ns1',
    '@ NS ns2',
    `@ A ${address}`,
    '@ MX 10 mx1',
    '@ MX 20 mx2',
    '@ TXT "v=spf1 mx -all"',
    '@ TXT "site-verification=5tq8Zb0vKc1nJ4"',
    ...['ns1', 'ns2', 'mx1', 'mx2'].map((host, index) => `${host} A 192.0.2.${index + 1}`),
    '',
  ].join('\n')
}

function writeSites(folder: string, given: { key: string; cert: string; http: number; https: number }): void {
  for (const [name, text] of [
    ['page', page()],
    ['small', '<!doctype html><title>A site</title><p>A site of few words.\n'],
  ] as const) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'index.html'), text)
    writeFileSync(join(folder, name, 'index.html.gz'), gzipSync(text))
  }
  writeFileSync(join(folder, 'key.pem'), given.key)
  writeFileSync(join(folder, 'cert.pem'), given.cert)
  const listen = (kind: Kind, port: number, more = '') =>
    addressesOf(kind).map((address) => `listen ${address}:${port}${more};`)
  const files = (name: string) => `root ${join(folder, name)}; location = /robots.txt { return 404; }`
  const server = (...lines: string[]) => `  server { ${lines.join(' ')} }`
  const secure = (kind: Kind, name: string) => [
    server(...listen(kind, given.http), 'return 301 https://$host/;'),
    server(...listen(kind, given.https, ' ssl'), files(name)),
  ]
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `  ${each}_temp_path ${folder}/${each};`,
  )
  const conf = [
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'daemon off; worker_processes 1; error_log stderr crit;',
    `pid ${folder}/nginx.pid;`,
    'events { worker_connections 8192; }',
    'http {',
    '  access_log off; default_type text/html; gzip_static on; keepalive_requests 10000;',
    '  ssl_certificate cert.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.2 TLSv1.3;',
    ...temporary,
    ...secure('page', 'page'),
    ...secure('secure', 'small'),
    server(...listen('plain', given.http), files('small')),
    '}',
  ]
  writeFileSync(join(folder, 'nginx.conf'), `${conf.join('\n')}\n`)
}

/** A start page as most are: a head with style and script, a menu, some articles, a footer with social accounts. */
function page(): string {
  const words = Array.from({ length: 12 }, (_, index) => textOf(diceOf(1, index, 1))).flatMap((text) => text.split(' '))
  const some = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => words[(from + index) % words.length]).join(' ')
  const style = Array.from(
    { length: 60 },
    (_, index) => `.c${index}{margin:${index}px;padding:0 ${index}px;color:#33${index % 10}}`,
  )
  const script = Array.from(
    { length: 70 },
    (_, index) => `window.f${index}=function(a,b){return a<b?a+${index}:"</p>"+b};`,
  )
  const menu = Array.from(
    { length: 30 },
    (_, index) => `<li class="c${index}"><a href="/${some(index, 1)}/">${some(index, 2)}</a></li>`,
  )
  const social = ['https://x.com/bench', 'https://www.facebook.com/bench', 'https://www.instagram.com/bench/']
  const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${some(0, 5)}</title><style>${style.join('\n')}</style><script>${script.join('\n')}</script></head>`
  let body = `<body><nav><ul>${menu.join('\n')}</ul></nav>`
  const footer = `<footer>${social.map((url) => `<a href="${url}">${some(7, 1)}</a>`).join(' ')}</footer></body></html>`
  for (let at = 0; head.length + body.length + footer.length < PAGE_BYTES; at += 40) {
    body += `<article class="c${at % 60}"><h2>${some(at, 4)}</h2><p>${some(at, 40)}</p><img src="/i/${at}.jpg" alt="${some(at, 3)}"></article>\n`
  }
  return head + body + footer
}
