/** curl and openssl as reference tools: the response of each URL, and the certificate on port 443. */

import type { Resolver } from '../../src/probe/dns/resolver.ts'
import type { PortMapping } from '../../src/probe/guard.ts'
import type { RedirectHop } from '../../src/probe/probe-result.ts'
import { runTool } from './run-tool.ts'

/**
 * The lab's resolver, and its endpoints for the public ports 80 and 443. `rootsFile`: the file of its root certificate.
 */
export type LabAddresses = { resolver: Resolver; portMappings: readonly PortMapping[]; rootsFile: string }

/** The response to a URL. `to`: the redirect target according to curl. Null: no response. */
export type CurlResponse = { status: number; to: string | null } | null

const CURL = ['-s', '-k', '--noproxy', '*', '--http1.1', '--max-time', '4', '-o', '/dev/null']
const MAX_ADDRESSES = 4
const TIMEOUT_MILLISECONDS = 8_000

/** Returns the endpoints of a host for a public port. */
export async function endpointsOf(
  { resolver, portMappings }: LabAddresses,
  host: string,
  port: number,
): Promise<PortMapping[]> {
  const answers = await Promise.all([resolver.resolve(host, 'A'), resolver.resolve(host, 'AAAA')])
  const hostAddresses = answers.flatMap((answer) => (answer?.outcome === 'records' ? (answer.records as string[]) : []))
  const found = portMappings.filter(({ address, publicPort }) => publicPort === port && hostAddresses.includes(address))
  return found.slice(0, MAX_ADDRESSES)
}

/** Requests the URL from each address of the host until one responds. */
export async function requestWithCurl(addresses: LabAddresses, url: string): Promise<CurlResponse> {
  const { hostname, protocol, port } = new URL(url)
  if (port !== '') return null
  const publicPort = protocol === 'https:' ? 443 : 80
  for (const endpoint of await endpointsOf(addresses, hostname, publicPort)) {
    const to = `${hostname}:${publicPort}:${endpoint.address.includes(':') ? `[${endpoint.address}]` : endpoint.address}:${endpoint.port}`
    const { text } = await runTool(
      'curl',
      [...CURL, '--connect-to', to, '-w', '%{http_code} %{redirect_url}', url],
      TIMEOUT_MILLISECONDS,
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
 * Returns the hops that curl sees from the same first URL. curl follows its own redirects. It does not know a meta
 * refresh, so that one is followed as the prober did.
 */
export async function followWithCurl(
  addresses: LabAddresses,
  start: string,
  ourHops: readonly RedirectHop[],
): Promise<string[]> {
  const hops: string[] = []
  for (let url: string | null = start; url !== null && hops.length <= 10; ) {
    const response: CurlResponse = await requestWithCurl(addresses, url)
    if (response === null) return hops
    const ourHop = ourHops[hops.length]
    const to: string | null =
      ourHop?.by === 'refresh' && ourHop.url === url && response.to === null ? ourHop.to : response.to
    hops.push(hopText(url, response.status, to))
    url = to
  }
  return hops
}

export function hopText(url: string, status: number, to: string | null): string {
  return `${url} ${status}${to === null ? '' : ` > ${to}`}`
}

/**
 * Returns what port 443 of a host presents: `nocert`, `valid`, or `invalid` with the reason. Uses openssl's default
 * security level if the server supports it.
 */
export async function certificateByOpenssl(addresses: LabAddresses, host: string): Promise<string> {
  for (const { address, port } of await endpointsOf(addresses, host, 443)) {
    const connect = `${address.includes(':') ? `[${address}]` : address}:${port}`
    const names = [
      '-servername',
      host,
      '-verify_hostname',
      host,
      '-CAfile',
      addresses.rootsFile,
      '-purpose',
      'sslserver',
    ]
    for (const ciphers of ['DEFAULT@SECLEVEL=2', 'ALL:@SECLEVEL=0']) {
      const options = ['-cipher', ciphers, '-legacy_server_connect']
      const { text } = await runTool(
        'openssl',
        ['s_client', '-connect', connect, ...names, ...options],
        TIMEOUT_MILLISECONDS,
      )
      const [, code, reason] = /Verify return code: (\d+) \((.*)\)/.exec(text) ?? []
      if (/BEGIN CERTIFICATE/.test(text)) return code === '0' ? 'valid' : `invalid (${reason})`
    }
  }
  return 'nocert'
}
