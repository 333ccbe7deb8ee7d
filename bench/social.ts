/**
 * `npm run bench:social`: measures precision and recall of social accounts by network, on labelled URLs and against the
 * JSON-LD of real pages.
 * Option: `--wrong` lists every disagreement.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { SocialAccount } from '../src/observe/observation.ts'
import { socialAccounts } from '../src/observe/observe.ts'
import { socialAccountAt } from '../src/observe/social/account-at-url.ts'
import { createPageReader } from '../src/probe/page/page.ts'
import type { StartPage } from '../src/probe/probe-result.ts'
import { parseName } from '../src/values/domain-name.ts'
import { type Metric, metric, metricWithMin, report } from './measure/report.ts'
import { labelOf, type Vector } from './social/labels.ts'
import { judgeLinks } from './social/links.ts'
import { type ReviewVerdict, reviewVerdict } from './social/reviewed-accounts.ts'
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
  console.error('bench:social needs the sample data in ../shared/data')
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
    ...scoreMetrics('URLs', vectors.score),
    ...scoreMetrics('pages', pages.score),
    ...reviewMetrics('pages', pages),
    ...reviewMetrics('start pages alone', starts),
    ...links.metrics,
  ],
  [
    `${vectors.judged} labelled URLs; ${vectors.skipped} more do not tell whether they are accounts (bench/social/labels.ts)`,
    `${pages.judged} pages that link accounts of their JSON-LD; the accounts are found without JSON-LD`,
    'precision on pages: of what was found on a network of which JSON-LD names an account, the share that it names;',
    'a page may well link accounts that are not its own, so that the rest is not wrong as such: precision by reading counts as',
    "right also what was found to be the site's own when each of the rest was looked up in its page (bench/social/reviewed-accounts.ts)",
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
    const isRight =
      found?.network === expected &&
      (!label?.username || found?.username.toLowerCase() === label.username.toLowerCase())
    score.add(expected ?? found?.network ?? row.network, expected !== null, found !== null, isRight, row.url)
  }
  return { score, judged: judged.length, skipped: rows.length - judged.length }
}

/** `verdicts`: how often the manual review gave each verdict for an account that JSON-LD does not name. */
type Pages = { score: Score; verdicts: ReadonlyMap<ReviewVerdict | null, number>; judged: number }

function judgePages(folders: readonly URL[]): Pages {
  const score = new Score()
  const verdicts = new Map<ReviewVerdict | null, number>()
  let judged = 0
  for (const { row, page, markup } of readPages(folders)) {
    const domain = parseName(row.domain)
    if (domain === null) continue
    const declared = socialAccounts({ ...page, links: page.links.filter(({ from }) => from === 'data') }, domain)
    const found = socialAccounts({ ...page, links: page.links.filter(({ from }) => from !== 'data') }, domain)
    const linked = declared.filter((account) => isLinked(account, markup))
    if (linked.length > 0) judged++
    for (const account of linked) {
      const isFound = found.some(({ url }) => url === account.url)
      if (isFound) score.add(account.network, true, true, true, account.url)
      else score.addFalseNegative(account.network, `${row.url} declares ${account.url}`)
    }
    for (const account of found) {
      const isJudged = declared.some(({ network }) => network === account.network)
      if (isJudged && !declared.some(({ url }) => url === account.url)) {
        const verdict = reviewVerdict(account.url)
        score.addFalsePositive(account.network, `${row.url} links ${account.url} (${verdict ?? 'not reviewed'})`)
        verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
      }
    }
  }
  return { score, verdicts, judged }
}

/**
 * Returns whether the markup outside scripts contains the account, as a URL or a handle. Does not use the rules of the
 * service.
 */
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

function scoreMetrics(what: string, score: Score): Metric[] {
  const all = score.total()
  return [
    metricWithMin(`${what}: precision`, all.precision, '', PRECISION),
    metricWithMin(`${what}: recall`, all.recall, '', RECALL),
    ...score
      .table()
      .flatMap(({ network, precision, recall, right, falsePositives, falseNegatives }) => [
        metric(`${what}, ${network}: precision`, precision, `${right} right, ${falsePositives} false`),
        metric(`${what}, ${network}: recall`, recall, `${falseNegatives} missed`),
      ]),
  ]
}

/** The precision against JSON-LD, and after the manual review. An account without a verdict counts as wrong. */
function reviewMetrics(what: string, { score, verdicts }: Pages): Metric[] {
  const { right, falsePositives, precision, recall } = score.total()
  const own = verdicts.get('own') ?? 0
  const counts = [...verdicts].map(([verdict, count]) => `${count} ${verdict ?? 'not reviewed'}`).join(', ')
  return [
    metric(`${what}: precision against JSON-LD`, precision, `${right} right, ${falsePositives} false: ${counts}`),
    metricWithMin(`${what}: precision after review`, (right + own) / (right + falsePositives), '', PRECISION),
    metric(`${what}: recall`, recall, ''),
  ]
}
