/** curl and openssl as reference tools: what each address of the web answers, and what port 443 shows. */

import type { Resolver } from '../../src/probe/dns/resolver.ts'
import type { PortMapping } from '../../src/probe/guard.ts'
import type { RedirectHop } from '../../src/probe/probe-result.ts'
import { ask } from './ask.ts'

/** Where hosts are found: the lab's resolver, and the doors that stand for ports 80 and 443 there. */
export type Where = { resolver: Resolver; stands: readonly PortMapping[]; roots: string }

/** An answer; `to`: where curl says that it leads. Null: no answer. */
export type Answer = { status: number; to: string | null } | null

const CURL = ['-s', '-k', '--noproxy', '*', '--http1.1', '--max-time', '4', '-o', '/dev/null']
const MOST_ADDRESSES = 4
const MILLISECONDS = 8_000

/** The doors of a host's addresses for a port of the web. */
export async function doorsOf({ resolver, stands }: Where, host: string, port: number): Promise<PortMapping[]> {
  const answers = await Promise.all([resolver.resolve(host, 'A'), resolver.resolve(host, 'AAAA')])
  const addresses = answers.flatMap((answer) => (answer?.outcome === 'records' ? (answer.records as string[]) : []))
  const found = stands.filter(({ address, publicPort: standsFor }) => standsFor === port && addresses.includes(address))
  return found.slice(0, MOST_ADDRESSES)
}

/** Asks each address of the host until one answers. */
export async function curl(where: Where, url: string): Promise<Answer> {
  const { hostname, protocol, port } = new URL(url)
  if (port !== '') return null
  const standsFor = protocol === 'https:' ? 443 : 80
  for (const door of await doorsOf(where, hostname, standsFor)) {
    const to = `${hostname}:${standsFor}:${door.address.includes(':') ? `[${door.address}]` : door.address}:${door.port}`
    const { text } = await ask(
      'curl',
      [...CURL, '--connect-to', to, '-w', '%{http_code} %{redirect_url}', url],
      MILLISECONDS,
    )
    const [, status, target] = /^(\d{3}) (.*)$/m.exec(text) ?? []
    if (status !== undefined && status !== '000') return { status: Number(status), to: targetOf(target ?? '') }
  }
  return null
}

function targetOf(text: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return null
  url.hash = ''
  return url.href
}

/**
 * The hops that curl sees on the way that we took: it starts where we did, and follows its own redirects; a meta
 * refresh, which it does not know, is followed as we did.
 */
export async function walk(where: Where, start: string, ours: readonly RedirectHop[]): Promise<string[]> {
  const hops: string[] = []
  for (let url: string | null = start; url !== null && hops.length <= 10; ) {
    const answer: Answer = await curl(where, url)
    if (answer === null) return hops
    const mine = ours[hops.length]
    const to: string | null = mine?.by === 'refresh' && mine.url === url && answer.to === null ? mine.to : answer.to
    hops.push(hopText(url, answer.status, to))
    url = to
  }
  return hops
}

export function hopText(url: string, status: number, to: string | null): string {
  return `${url} ${status}${to === null ? '' : ` > ${to}`}`
}

/**
 * What port 443 of a host shows: `nocert`, `valid`, or `invalid` with the reason; by openssl's default rules where it
 * speaks them.
 */
export async function openssl(where: Where, host: string): Promise<string> {
  for (const { address, port } of await doorsOf(where, host, 443)) {
    const connect = `${address.includes(':') ? `[${address}]` : address}:${port}`
    const names = ['-servername', host, '-verify_hostname', host, '-CAfile', where.roots, '-purpose', 'sslserver']
    for (const ciphers of ['DEFAULT@SECLEVEL=2', 'ALL:@SECLEVEL=0']) {
      const manner = ['-cipher', ciphers, '-legacy_server_connect']
      const { text } = await ask('openssl', ['s_client', '-connect', connect, ...names, ...manner], MILLISECONDS)
      const [, code, reason] = /Verify return code: (\d+) \((.*)\)/.exec(text) ?? []
      if (/BEGIN CERTIFICATE/.test(text)) return code === '0' ? 'valid' : `invalid (${reason})`
    }
  }
  return 'nocert'
}
