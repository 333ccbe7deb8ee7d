/**
 * How well social accounts are told from other addresses: precision and recall by network, on labelled addresses and
 * against what real pages say of themselves in JSON-LD. `--wrong` lists every disagreement.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { SocialAccount } from '../src/observe/observation.ts'
import { socialAccountAt } from '../src/observe/social/account-at-url.ts'
import { socialAccounts } from '../src/observe/social/social-accounts.ts'
import { createPageReader } from '../src/probe/page/page.ts'
import type { StartPage } from '../src/probe/probe-result.ts'
import { parseName } from '../src/values/domain-name.ts'
import { atLeast, figure, type Line, report } from './measure/report.ts'
import { type Reading, readingOf } from './social/accounts-read-by-hand.ts'
import { labelOf, type Vector } from './social/labels.ts'
import { judgeLinks } from './social/links.ts'
import { Score } from './social/score.ts'

const DATA = new URL('../../shared/data/', import.meta.url)
const VECTORS = new URL('social/url-vectors/vectors.jsonl', DATA)
const LINKS = new URL('social/site-links/site-links.csv.gz', DATA)
const PAGES = ['pages/start-pages/', 'pages/articles/'].map((path) => new URL(path, DATA))
const PRECISION = 0.97
const RECALL = 0.95

type Row = { file: string; domain: string; url: string }

const { values } = parseArgs({ options: { wrong: { type: 'boolean', default: false } } })
if (!existsSync(VECTORS)) {
  console.error('bench:social reads the sample data that lies beside the repository, and it is not there')
  process.exit(1)
}
const vectors = judgeVectors()
const pages = judgePages(PAGES)
const starts = judgePages(PAGES.slice(0, 1))
const links = judgeLinks(LINKS)
if (values.wrong) for (const line of [...vectors.score.wrong, ...pages.score.wrong, ...links.shared]) console.log(line)
report(
  'social',
  [
    ...lines('addresses', vectors.score),
    ...lines('pages', pages.score),
    ...readLines('pages', pages),
    ...readLines('start pages alone', starts),
    ...links.lines,
  ],
  [
    `${vectors.judged} labelled addresses; ${vectors.skipped} more say nothing of accounts (bench/social/labels.ts)`,
    `${pages.judged} pages with accounts in JSON-LD that they also link; found without reading JSON-LD`,
    'precision on pages: of what was found on a network of which JSON-LD names an account, the share that it names;',
    'a page may well link accounts that are not its own, so that the rest is not wrong as such: precision by reading counts as',
    "right also what was found to be the site's own when each of the rest was looked up in its page (bench/social/accounts-read-by-hand.ts)",
  ],
  { vectors: vectors.score.table(), pages: pages.score.table(), starts: starts.score.table() },
)

function judgeVectors() {
  const score = new Score()
  const rows = jsonLines<Vector>(VECTORS)
  const labels = rows.map((row) => ({ row, label: labelOf(row) }))
  const judged = labels.filter(({ label }) => label !== null)
  for (const { row, label } of judged) {
    const found = socialAccountAt(row.url, 'https://site.example/')
    const expected = label?.network ?? null
    const right =
      found?.network === expected &&
      (!label?.username || found?.username.toLowerCase() === label.username.toLowerCase())
    score.add(expected ?? found?.network ?? row.network, expected !== null, found !== null, right, row.url)
  }
  return { score, judged: judged.length, skipped: rows.length - judged.length }
}

/** `readings`: how often an account that JSON-LD does not name turned out to be what. */
type Pages = { score: Score; readings: ReadonlyMap<Reading | null, number>; judged: number }

function judgePages(folders: readonly URL[]): Pages {
  const score = new Score()
  const readings = new Map<Reading | null, number>()
  let judged = 0
  for (const { row, page, markup } of readPages(folders)) {
    const domain = parseName(row.domain)
    if (domain === null) continue
    const said = socialAccounts({ ...page, links: page.links.filter(({ from }) => from === 'data') }, domain)
    const found = socialAccounts({ ...page, links: page.links.filter(({ from }) => from !== 'data') }, domain)
    const linked = said.filter((account) => isLinked(account, markup))
    if (linked.length > 0) judged++
    for (const account of linked) {
      const isFound = found.some(({ url }) => url === account.url)
      if (isFound) score.add(account.network, true, true, true, account.url)
      else score.miss(account.network, `${row.url} says ${account.url}`)
    }
    for (const account of found) {
      const isJudged = said.some(({ network }) => network === account.network)
      if (isJudged && !said.some(({ url }) => url === account.url)) {
        const reading = readingOf(account.url)
        score.extra(account.network, `${row.url} links ${account.url} (${reading ?? 'not read'})`)
        readings.set(reading, (readings.get(reading) ?? 0) + 1)
      }
    }
  }
  return { score, readings, judged }
}

/** Whether the markup beside its scripts names the account, in an address or as a handle: told without the rules. */
function isLinked({ network, username }: SocialAccount, markup: string): boolean {
  const host = network === 'x' ? '(?:twitter|x)\\.com' : network
  const name = username.replace(/[^\w-]/g, '\\$&')
  return new RegExp(`["'=][^"'\\s<>]*${host}[^"'\\s<>]*[/@=]${name}(?:["'/?#\\s>]|$)`, 'i').test(markup)
}

function* readPages(folders: readonly URL[]): Generator<{ row: Row; page: StartPage; markup: string }> {
  for (const folder of folders) {
    const unpacked = mkdtempSync(join(tmpdir(), 'domaindex-pages-'))
    try {
      spawnSync('tar', ['-xzf', new URL('html.tar.gz', folder).pathname, '-C', unpacked], { stdio: 'inherit' })
      const files = spawnSync('find', [unpacked, '-type', 'f'], { encoding: 'utf8' }).stdout.split('\n')
      for (const row of jsonLines<Row>(new URL('index.jsonl', folder))) {
        const file = files.find((path) => path.endsWith(`/${row.file}`))
        if (file === undefined) continue
        const reader = createPageReader({ contentType: 'text/html', url: row.url })
        const bytes = readFileSync(file)
        reader.write(bytes)
        const markup = bytes.toString().replace(/<script.*?<\/script|<!--.*?-->/gis, '')
        yield { row, page: reader.end().page, markup }
      }
    } finally {
      rmSync(unpacked, { recursive: true })
    }
  }
}

function jsonLines<T>(url: URL): T[] {
  const lines = readFileSync(url, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T)
}

function lines(what: string, score: Score): Line[] {
  const all = score.total()
  return [
    atLeast(`${what}: precision`, all.precision, '', PRECISION),
    atLeast(`${what}: recall`, all.recall, '', RECALL),
    ...score
      .table()
      .flatMap(({ network, precision, recall, right, extra, missed }) => [
        figure(`${what}, ${network}: precision`, precision, `${right} right, ${extra} too many`),
        figure(`${what}, ${network}: recall`, recall, `${missed} missed`),
      ]),
  ]
}

/** The first figure again and what reading makes of it; an account that nobody has looked up counts as wrong. */
function readLines(what: string, { score, readings }: Pages): Line[] {
  const { right, extra, precision, recall } = score.total()
  const own = readings.get('own') ?? 0
  const counts = [...readings].map(([reading, count]) => `${count} ${reading ?? 'not read'}`).join(', ')
  return [
    figure(`${what}: precision against JSON-LD`, precision, `${right} right, ${extra} too many: ${counts}`),
    atLeast(`${what}: precision by reading`, (right + own) / (right + extra), '', PRECISION),
    figure(`${what}: recall`, recall, ''),
  ]
}
