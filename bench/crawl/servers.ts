/** The servers that the measured crawler contacts: nsd and nginx as ordinary processes with files in one folder. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { makeAuthority } from '../../lab/authority.ts'
import { openResolver } from '../../src/probe/dns/resolver.ts'
import type { DnsServer } from '../../src/probe/dns/server.ts'
import type { PortMapping } from '../../src/probe/guard.ts'
import type { IpAddress } from '../../src/values/ip-address.ts'
import { findFreePort } from '../measure/port.ts'
import { isInstalled, type RunningProcess, startProcess, stopProcess } from '../measure/process.ts'
import { startPageTextOf } from '../world/language.ts'
import { seededRandom } from '../world/random.ts'

/**
 * `page`: http redirects to https, which serves a page of 30 KB. `secure`: the same with a page of a few bytes.
 * `plain`: http serves a page of a few bytes, and there is no https.
 */
export const SITE_KINDS = ['page', 'secure', 'plain'] as const
export type SiteKind = (typeof SITE_KINDS)[number]

/** The addresses of the servers, passed to the measured process as JSON. */
export type ServerAddresses = { server: DnsServer; portMappings: PortMapping[]; root: string }
export type Servers = ServerAddresses & { close(): Promise<void> }

const ZONE = 'bench.example'
/** The sites are spread over this many addresses, because a closed port to one address stays blocked for a minute. */
const ADDRESSES = 32
const PAGE_BYTES = 30_000
/** The programs and their Debian packages. */
const PROGRAMS = { nsd: 'nsd', nginx: 'nginx-light' }

export function siteNameAt(kind: SiteKind, index: number): string {
  return `${kind}-${index}.${ZONE}`
}

/** Starts nsd and nginx on one core, with `names` sites of each kind. Throws if one of them is not installed. */
export async function startServers(folder: string, names: number, core: number): Promise<Servers> {
  checkInstalled()
  const [dns, http, https] = [await findFreePort(), await findFreePort(), await findFreePort()]
  const { root, identity } = await makeAuthority(Date.now())
  const { key, cert } = await identity('valid', [`*.${ZONE}`])
  writeZones(folder, names, dns)
  writeSites(folder, { key, cert, http, https })
  const processes = [
    startProcess(['nsd', '-d', '-c', join(folder, 'nsd.conf')], { core }),
    startProcess(['nginx', '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], { core }),
  ]
  const portMappings = SITE_KINDS.flatMap((kind) =>
    addressesOf(kind).flatMap((address) => [
      { address, port: http, publicPort: 80 },
      { address, port: https, publicPort: 443 },
    ]),
  )
  const server: DnsServer = { address: '127.0.0.1' as IpAddress, port: dns }
  await waitUntilReady(processes, server, portMappings[0]!, siteNameAt('plain', names - 1))
  return {
    server,
    portMappings,
    root,
    close: async () => {
      await Promise.all(processes.map((each: RunningProcess) => stopProcess(each)))
    },
  }
}

function checkInstalled(): void {
  const missing = Object.entries(PROGRAMS).filter(([program]) => !isInstalled(program))
  if (missing.length === 0) return
  const packages = missing.map(([, debianPackage]) => debianPackage).join(' ')
  throw new Error(`programs are missing: apt-get install ${packages}, and stop the services that they start`)
}

/** Waits until both servers answer. Throws with their output if one ends, or if one does not answer within a minute. */
async function waitUntilReady(
  processes: readonly RunningProcess[],
  server: DnsServer,
  site: PortMapping,
  name: string,
): Promise<void> {
  const resolver = await openResolver({ servers: [server] })
  for (let attempts = 0; attempts < 600; attempts++) {
    const failed = processes.find(({ child }) => child.exitCode !== null)
    if (failed !== undefined) throw new Error(`${failed.child.spawnargs.join(' ')} ended:\n${failed.output()}`)
    const answer = await resolver.resolve(name, 'A')
    if (answer?.outcome === 'records' && (await isOpen(site))) return resolver.close()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`nsd or nginx does not answer:\n${processes.map(({ output }) => output()).join('\n')}`)
}

/** Returns whether something listens at the address and port. */
export function isOpen({ address, port }: PortMapping): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address)
    const settle = (open: boolean) => (): void => {
      socket.destroy()
      resolve(open)
    }
    socket.on('connect', settle(true)).on('error', settle(false))
  })
}

function addressesOf(kind: SiteKind): IpAddress[] {
  const third = SITE_KINDS.indexOf(kind)
  return Array.from({ length: ADDRESSES }, (_, index) => `127.77.${third}.${index + 1}` as IpAddress)
}

/** All zones of one kind and address share a file, because everything in it is relative. */
function writeZones(folder: string, names: number, port: number): void {
  const zones: string[] = []
  for (const kind of SITE_KINDS) {
    for (const [index, address] of addressesOf(kind).entries())
      writeFileSync(join(folder, `${kind}-${index}.zone`), zone(address))
    for (let index = 0; index < names; index++) {
      zones.push(`zone:\n  name: "${siteNameAt(kind, index)}"\n  zonefile: "${kind}-${index % ADDRESSES}.zone"`)
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

function writeSites(folder: string, options: { key: string; cert: string; http: number; https: number }): void {
  for (const [name, text] of [
    ['page', startPage()],
    ['small', '<!doctype html><title>A site</title><p>A site of few words.\n'],
  ] as const) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'index.html'), text)
    writeFileSync(join(folder, name, 'index.html.gz'), gzipSync(text))
  }
  writeFileSync(join(folder, 'key.pem'), options.key)
  writeFileSync(join(folder, 'cert.pem'), options.cert)
  const listen = (kind: SiteKind, port: number, parameters = '') =>
    addressesOf(kind).map((address) => `listen ${address}:${port}${parameters};`)
  const files = (name: string) => `root ${join(folder, name)}; location = /robots.txt { return 404; }`
  const server = (...lines: string[]) => `  server { ${lines.join(' ')} }`
  const secure = (kind: SiteKind, name: string) => [
    server(...listen(kind, options.http), 'return 301 https://$host/;'),
    server(...listen(kind, options.https, ' ssl'), files(name)),
  ]
  const temporaryPaths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `  ${each}_temp_path ${folder}/${each};`,
  )
  const lines = [
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'daemon off; worker_processes 1; error_log stderr crit;',
    `pid ${folder}/nginx.pid;`,
    'events { worker_connections 8192; }',
    'http {',
    '  access_log off; default_type text/html; gzip_static on; keepalive_requests 10000;',
    '  ssl_certificate cert.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.2 TLSv1.3;',
    ...temporaryPaths,
    ...secure('page', 'page'),
    ...secure('secure', 'small'),
    server(...listen('plain', options.http), files('small')),
    '}',
  ]
  writeFileSync(join(folder, 'nginx.conf'), `${lines.join('\n')}\n`)
}

/** A typical start page: a head with style and script, a menu, articles, and a footer with social accounts. */
function startPage(): string {
  const words = Array.from({ length: 12 }, (_, index) => startPageTextOf(seededRandom(1, index, 1))).flatMap((text) =>
    text.split(' '),
  )
  const wordsFrom = (from: number, count: number) =>
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
    (_, index) => `<li class="c${index}"><a href="/${wordsFrom(index, 1)}/">${wordsFrom(index, 2)}</a></li>`,
  )
  const social = ['https://x.com/bench', 'https://www.facebook.com/bench', 'https://www.instagram.com/bench/']
  const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${wordsFrom(0, 5)}</title><style>${style.join('\n')}</style><script>${script.join('\n')}</script></head>`
  let body = `<body><nav><ul>${menu.join('\n')}</ul></nav>`
  const footer = `<footer>${social.map((url) => `<a href="${url}">${wordsFrom(7, 1)}</a>`).join(' ')}</footer></body></html>`
  for (let at = 0; head.length + body.length + footer.length < PAGE_BYTES; at += 40) {
    body += `<article class="c${at % 60}"><h2>${wordsFrom(at, 4)}</h2><p>${wordsFrom(at, 40)}</p><img src="/i/${at}.jpg" alt="${wordsFrom(at, 3)}"></article>\n`
  }
  return head + body + footer
}
