/** `npm run bench:reference-tools`: compares 1,000 probes of the lab with dig, curl and openssl. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Lab, startLab } from '../lab/lab.ts'
import type { Observation } from '../src/observe/observation.ts'
import { observe } from '../src/observe/observe.ts'
import { openResolver, type Resolver } from '../src/probe/dns/resolver.ts'
import { makeGuard } from '../src/probe/guard.ts'
import { createProber, type Prober } from '../src/probe/probe.ts'
import type { ProbeResult, RedirectChain } from '../src/probe/probe-result.ts'
import { createWebProber } from '../src/probe/web.ts'
import type { DomainName } from '../src/values/domain-name.ts'
import { RECORD_TYPES } from '../src/values/records/dns-record.ts'
import { isInstalled } from './measure/process.ts'
import { metric, metricWithMax, report } from './measure/report.ts'
import { certificateByOpenssl, followWithCurl, hopText, type LabAddresses } from './reference-tools/curl.ts'
import { queryWithDig } from './reference-tools/dig.ts'

/** A question about a name to which a tool and the prober give different answers. */
type Difference = { state: number; name: string; tool: string; what: string; ourAnswer: string; toolAnswer: string }
type ToolCount = { compared: number; differences: Difference[] }

const PROBES = 1000
const IN_FLIGHT = 8
/** Known differences, and which side is right. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  'rebinding.example': 'its answer differs at each query, so two clients never get the same',
  'lame.example': 'dig prints a referral as NOERROR; a resolver that only refers to others has not answered',
  'malformed.example': 'dig prints the header of a truncated message',
  'moved-with-user.example': 'curl keeps the user name of the URL, the crawler drops it; the host is the same',
  'dripping-head.example': 'curl reports the status of a head that never ends',
  'endless-head.example': 'curl reports the status of a head that never ends',
  'endless-hints.example': 'curl reports the status of hints without a response after them',
  'long-field.example': 'the crawler rejects a head of more than 32 KiB',
  'empty-location.example':
    'an empty Location redirects to the page itself (RFC 3986), but curl ignores it; no website either way',
  'http2-only.example': 'curl runs with HTTP/1.1, which this server does not speak',
}
const PROGRAMS = { dig: 'dnsutils', curl: 'curl', openssl: 'openssl' }

const missing = Object.entries(PROGRAMS).filter(([program]) => !isInstalled(program))
for (const [program, debianPackage] of missing)
  console.error(`skipped: ${program} is not installed (apt-get install ${debianPackage})`)
const installed = new Set(Object.keys(PROGRAMS).filter((program) => isInstalled(program)))
if (installed.size > 0) await compareAll()

async function compareAll(): Promise<void> {
  const lab = await startLab()
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-reference-tools-'))
  const rootsFile = join(folder, 'root.pem')
  writeFileSync(rootsFile, lab.root)
  const resolver = await openResolver({ servers: [lab.resolver] })
  const prober = await proberOf(lab)
  const counts = new Map(
    [...installed].map((program): [string, ToolCount] => [program, { compared: 0, differences: [] }]),
  )
  try {
    for (let probes = 0, state = 1; probes < PROBES; probes += lab.names.length, state++) {
      const names = lab.names.slice(0, PROBES - probes)
      await compareNames(names, prober, { lab, resolver, portMappings: lab.portMappings, rootsFile }, counts, state)
      lab.change()
    }
  } finally {
    await Promise.all([prober.close(), resolver.close(), lab.close()])
    rmSync(folder, { recursive: true })
  }
  reportDifferences(counts)
}

type LabAccess = LabAddresses & { lab: Lab; resolver: Resolver }

async function proberOf(lab: Lab): Promise<Prober> {
  const resolver = await openResolver({ servers: [lab.resolver] })
  const web = createWebProber({
    resolver,
    guard: makeGuard({ portMappings: lab.portMappings }),
    roots: [lab.root],
    userAgent: 'domaindex/reference-tools',
    limits: { handshakeMs: 3000, headMs: 4000, bodyMs: 4000, robotsMs: 3000 },
  })
  return createProber({ resolver, web, now: () => Math.floor(Date.now() / 1000) })
}

async function compareNames(
  names: readonly DomainName[],
  prober: Prober,
  access: LabAccess,
  counts: Map<string, ToolCount>,
  state: number,
): Promise<void> {
  const left = [...names]
  const compareNext = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      const result = await prober.probe(name)
      const observation = observe(result)
      const found = [
        ...(await compareDns(access, observation)),
        ...(await compareWeb(access, result)),
        ...(await compareCertificate(access, result, observation)),
      ]
      for (const { tool, ...each } of found) {
        const count = counts.get(tool)!
        count.compared++
        if (each.ourAnswer !== each.toolAnswer) count.differences.push({ state, name, tool, ...each })
      }
      if (left.length > 0 && left.length % 100 === 0) console.error(`  state ${state}: ${left.length} left`)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, compareNext))
}

type Comparison = Omit<Difference, 'state' | 'name'>

async function compareDns({ lab }: LabAccess, { domain, dns }: Observation): Promise<Comparison[]> {
  if (!installed.has('dig')) return []
  const digResult = await queryWithDig(lab.resolver, domain)
  const statusComparison = {
    tool: 'dig',
    what: 'status',
    ourAnswer: dns?.status ?? 'no answer',
    toolAnswer: digResult.status,
  }
  if (dns?.status !== 'ok' || digResult.status !== 'ok') return [statusComparison]
  const types = RECORD_TYPES.map((what) => ({
    tool: 'dig',
    what,
    ourAnswer: dns.records[what] === undefined ? 'no answer' : JSON.stringify(dns.records[what]),
    toolAnswer: digResult.records[what] ?? 'no answer',
  }))
  return [statusComparison, ...types]
}

/** Compares each chain hop by hop. If the prober got no response, the tool must get none either. */
async function compareWeb(access: LabAccess, { domain, web }: ProbeResult): Promise<Comparison[]> {
  if (!installed.has('curl') || web === null) return []
  const comparisons: Comparison[] = []
  for (const [what, chain, host] of [
    ['bare', web.bare, domain],
    ['www', web.www, `www.${domain}`],
  ] as const) {
    if (chain === null) continue
    const starts = chain.hops.slice(0, 1).map(({ url }) => url)
    if (starts.length === 0) starts.push(`http://${host}/`, `https://${host}/`)
    const toolAnswer = (await Promise.all(starts.map((start) => followWithCurl(access, start, chain.hops)))).flat()
    comparisons.push({
      tool: 'curl',
      what: `chain of ${what}`,
      ourAnswer: chainText(chain),
      toolAnswer: toolAnswer.join(', '),
    })
  }
  return comparisons
}

function chainText({ hops }: RedirectChain): string {
  return hops.map(({ url, status, to }) => hopText(url, status, to)).join(', ')
}

async function compareCertificate(
  access: LabAccess,
  { domain }: ProbeResult,
  { web }: Observation,
): Promise<Comparison[]> {
  if (!installed.has('openssl') || web === null) return []
  const toolAnswer = await certificateByOpenssl(access, web.only_with_www ? `www.${domain}` : domain)
  const isSame = toolAnswer.startsWith(web.ssl)
  return [{ tool: 'openssl', what: 'certificate', ourAnswer: isSame ? toolAnswer : web.ssl, toolAnswer }]
}

function reportDifferences(counts: Map<string, ToolCount>): void {
  const all = [...counts.values()].flatMap(({ differences }) => differences)
  const shorten = (text: string): string => (text.length > 160 ? `${text.slice(0, 160)}…` : text).replaceAll('|', '\\|')
  console.log('\n| state | name | tool | what | domaindex | the tool | why |\n|---|---|---|---|---|---|---|')
  for (const { state, name, tool, what, ourAnswer, toolAnswer } of all) {
    console.log(
      `| ${state} | ${name} | ${tool} | ${what} | ${shorten(ourAnswer)} | ${shorten(toolAnswer)} | ${EXPLANATIONS[name] ?? 'NOT EXPLAINED'} |`,
    )
  }
  const metrics = [...counts].flatMap(([program, { compared, differences }]) => [
    metric(`${program}: compared`, compared, 'answers'),
    metric('  of which differ', differences.length, 'answers'),
    metricWithMax(
      '  without an explanation',
      differences.filter(({ name }) => !(name in EXPLANATIONS)).length,
      'answers',
      0,
    ),
  ])
  report('reference-tools', metrics, [`${PROBES.toLocaleString('en')} probes of the lab, in both of its states`], all)
}
