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
import { RECORD_TYPES } from '../src/values/dns-record.ts'
import type { DomainName } from '../src/values/domain-name.ts'
import { has } from './measure/process.ts'
import { atMost, figure, report } from './measure/report.ts'
import { hopText, openssl, type Where, walk } from './reference-tools/curl.ts'
import { dig } from './reference-tools/dig.ts'

/** One difference between a reference tool and domaindex about a name. */
type Disagreement = { state: number; name: string; tool: string; what: string; ours: string; theirs: string }
type Count = { asked: number; disagreements: Disagreement[] }

const VISITS = 1000
const IN_FLIGHT = 8
/** Disagreements that are known, and who is right. */
const EXPLAINED: Readonly<Record<string, string>> = {
  'rebinding.example': 'it answers otherwise each time, so two askers never hear the same',
  'lame.example': 'dig prints a referral as NOERROR; a resolver that only refers to others has not answered',
  'malformed.example': 'dig prints the header of a message that breaks off',
  'moved-with-user.example': 'curl keeps the user of an address, we drop it; the host is the same',
  'dripping-head.example': 'curl tells the status of a head that never ends',
  'endless-head.example': 'curl tells the status of a head that never ends',
  'endless-hints.example': 'curl tells the status of hints that no answer follows',
  'long-field.example': 'a head over our bound of 32 KiB is no answer',
  'empty-location.example':
    'an empty Location leads to the page itself by RFC 3986, curl takes it for none; no website either way',
}
const PROGRAMS = { dig: 'dnsutils', curl: 'curl', openssl: 'openssl' }

const missing = Object.entries(PROGRAMS).filter(([program]) => !has(program))
for (const [program, debian] of missing)
  console.error(`skipped: ${program} is not installed (apt-get install ${debian})`)
const present = new Set(Object.keys(PROGRAMS).filter((program) => has(program)))
if (present.size > 0) await compareAll()

async function compareAll(): Promise<void> {
  const lab = await startLab()
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-reference-tools-'))
  const roots = join(folder, 'root.pem')
  writeFileSync(roots, lab.root)
  const resolver = await openResolver({ servers: [lab.resolver] })
  const crawler = await crawlerOf(lab)
  const counts = new Map([...present].map((program): [string, Count] => [program, { asked: 0, disagreements: [] }]))
  try {
    for (let visits = 0, state = 1; visits < VISITS; visits += lab.names.length, state++) {
      const names = lab.names.slice(0, VISITS - visits)
      await compareNames(names, crawler, { lab, resolver, stands: lab.portMappings, roots }, counts, state)
      lab.change()
    }
  } finally {
    await Promise.all([crawler.close(), resolver.close(), lab.close()])
    rmSync(folder, { recursive: true })
  }
  conclude(counts)
}

type World = Where & { lab: Lab; resolver: Resolver }

async function crawlerOf(lab: Lab): Promise<Prober> {
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
  crawler: Prober,
  world: World,
  counts: Map<string, Count>,
  state: number,
): Promise<void> {
  const left = [...names]
  const take = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      const visit = await crawler.probe(name)
      const observation = observe(visit)
      const found = [
        ...(await compareDns(world, observation)),
        ...(await compareWeb(world, visit)),
        ...(await compareCertificate(world, visit, observation)),
      ]
      for (const { tool, ...each } of found) {
        const count = counts.get(tool)!
        count.asked++
        if (each.ours !== each.theirs) count.disagreements.push({ state, name, tool, ...each })
      }
      if (left.length > 0 && left.length % 100 === 0) console.error(`  state ${state}: ${left.length} left`)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, take))
}

type Compared = Omit<Disagreement, 'state' | 'name'>

async function compareDns({ lab }: World, { domain, dns }: Observation): Promise<Compared[]> {
  if (!present.has('dig')) return []
  const dug = await dig(lab.resolver, domain)
  const status = { tool: 'dig', what: 'status', ours: dns?.status ?? 'unseen', theirs: dug.status }
  if (dns?.status !== 'ok' || dug.status !== 'ok') return [status]
  const types = RECORD_TYPES.map((what) => ({
    tool: 'dig',
    what,
    ours: dns.records[what] === undefined ? 'no answer' : JSON.stringify(dns.records[what]),
    theirs: dug.records[what] ?? 'no answer',
  }))
  return [status, ...types]
}

/** Each chain, hop by hop; where nothing answered us, nothing may answer them. */
async function compareWeb(world: World, { domain, web }: ProbeResult): Promise<Compared[]> {
  if (!present.has('curl') || web === null) return []
  const compared: Compared[] = []
  for (const [what, chain, host] of [
    ['bare', web.bare, domain],
    ['www', web.www, `www.${domain}`],
  ] as const) {
    if (chain === null) continue
    const starts = chain.hops.slice(0, 1).map(({ url }) => url)
    if (starts.length === 0) starts.push(`http://${host}/`, `https://${host}/`)
    const theirs = (await Promise.all(starts.map((start) => walk(world, start, chain.hops)))).flat()
    compared.push({ tool: 'curl', what: `chain of ${what}`, ours: ours(chain), theirs: theirs.join(', ') })
  }
  return compared
}

function ours({ hops }: RedirectChain): string {
  return hops.map(({ url, status, to }) => hopText(url, status, to)).join(', ')
}

async function compareCertificate(world: World, { domain }: ProbeResult, { web }: Observation): Promise<Compared[]> {
  if (!present.has('openssl') || web === null) return []
  const theirs = await openssl(world, web.only_with_www ? `www.${domain}` : domain)
  const isSame = theirs.startsWith(web.ssl)
  return [{ tool: 'openssl', what: 'certificate', ours: isSame ? theirs : web.ssl, theirs }]
}

function conclude(counts: Map<string, Count>): void {
  const all = [...counts.values()].flatMap(({ disagreements }) => disagreements)
  const cut = (text: string): string => (text.length > 160 ? `${text.slice(0, 160)}…` : text).replaceAll('|', '\\|')
  console.log('\n| state | name | tool | what | domaindex | the tool | why |\n|---|---|---|---|---|---|---|')
  for (const { state, name, tool, what, ours, theirs } of all) {
    console.log(
      `| ${state} | ${name} | ${tool} | ${what} | ${cut(ours)} | ${cut(theirs)} | ${EXPLAINED[name] ?? 'NOT EXPLAINED'} |`,
    )
  }
  const lines = [...counts].flatMap(([program, { asked, disagreements }]) => [
    figure(`${program}: compared`, asked, 'answers'),
    figure('  of which differ', disagreements.length, 'answers'),
    atMost(
      '  of which nobody knows why',
      disagreements.filter(({ name }) => !(name in EXPLAINED)).length,
      'answers',
      0,
    ),
  ])
  report('reference-tools', lines, [`${VISITS.toLocaleString('en')} visits of the lab, in both of its states`], all)
}
