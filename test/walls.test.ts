/**
 * The architecture: which folder may import which, and how a file begins. biome.json has the rules that Biome knows.
 */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { test } from 'node:test'
import { parseSync } from 'oxc-parser'

type ModuleException = { folder: string; module: string; names: string[] }

/**
 * From the bottom layer to the top. A file imports only its own folder and lower layers. A file belongs to the longest
 * entry that its path begins with. Folders of one layer do not import each other. A pure folder imports values of pure
 * folders only.
 */
const LAYERS = [
  ['src/values/', 'src/config/command-fault.ts', 'client/'],
  [
    'web/',
    'src/accounts/',
    'src/similar/text/',
    'src/inverse/entries/',
    'src/search/',
    'src/jobs/file-store/',
    'src/import/stream/',
    'src/probe/',
  ],
  ['src/lookalikes/', 'src/similar/postings/', 'src/probe/dns/', 'src/probe/tls/', 'src/probe/page/'],
  ['src/probe/http/', 'src/probe/self-check/'],
  ['src/probe/policy/'],
  ['src/probe/host-addresses.ts', 'src/probe/redirect-chain.ts'],
  ['src/probe/web.ts'],
  ['src/probe/probe.ts'],
  ['src/observe/', 'lab/'],
  ['src/apply/'],
  ['src/watch/'],
  ['src/store/'],
  ['src/store/inverse/', 'src/store/ledger/'],
  ['src/store/sqlite/', 'src/store/postgres/'],
  ['src/store/engines.ts'],
  ['src/store/open.ts'],
  ['src/import/', 'src/export/', 'src/registrations/', 'src/similar/', 'src/inverse/', 'src/crawler/'],
  ['src/crawler/continuous/', 'src/crawler/list/', 'src/fetch/'],
  ['src/jobs/', 'src/delivery/', 'src/repair/'],
  ['src/delivery/sending/'],
  ['src/api/http/'],
  ['src/api/auth/', 'src/api/signing/', 'src/api/page/'],
  ['src/api/quota/'],
  ['src/api/endpoints/'],
  ['src/api/context/'],
  ['src/api/queries/'],
  ['src/api/files/', 'src/api/batch/', 'src/api/dnsdb/', 'src/api/mcp/', 'src/api/openapi/', 'src/api/watch/'],
  ['src/api/app/'],
  ['src/api/admin/'],
  ['src/api/'],
  ['src/config/'],
  ['src/server/'],
  ['src/cli/'],
  ['src/main.ts'],
]

/** Packages of our own, by the name that their importers use. */
const PACKAGES: Readonly<Record<string, string>> = { '@domaindex/client': 'client/' }

/** scripts/lint/pure.grit checks what else they use. */
const PURE = [
  'src/values/',
  'src/config/command-fault.ts',
  'src/accounts/',
  'src/similar/text/',
  'src/similar/postings/',
  'src/inverse/entries/',
  'src/search/',
  'src/observe/',
  'src/apply/',
  'src/watch/',
  'src/lookalikes/',
]

/** Folders that only some of the higher layers may import. */
const RESTRICTED: { folders: string[]; importers: string[]; why: string }[] = [
  {
    folders: ['src/store/sqlite/', 'src/store/postgres/'],
    importers: ['src/store/engines.ts'],
    why: 'the rest of the code works with every engine',
  },
  {
    folders: ['src/probe/'],
    importers: [
      'src/observe/',
      'src/import/',
      'src/fetch/',
      'src/crawler/',
      'src/config/',
      'src/server/',
      'src/cli/',
      'lab/',
    ],
    why: 'no response waits for the internet',
  },
  {
    folders: ['src/fetch/'],
    importers: ['src/delivery/', 'src/server/', 'src/cli/'],
    why: 'no response waits for a download',
  },
  { folders: ['src/delivery/sending/'], importers: ['src/server/'], why: 'no response waits for a receiver' },
  {
    folders: ['src/crawler/'],
    importers: ['src/config/', 'src/server/', 'src/cli/'],
    why: 'no response waits for a crawl',
  },
  { folders: ['lab/'], importers: ['src/cli/'], why: 'only `demo` uses the lab' },
  { folders: ['client/'], importers: ['src/cli/', 'web/'], why: 'only the client commands and the page call an API' },
  { folders: ['web/'], importers: [], why: 'the browser loads it, and no process does' },
]

/** Modules that only some folders may use. Every folder may import their types. */
const MODULE_OWNERS: { modules: string[]; folders: string[]; why: string; except?: ModuleException[] }[] = [
  {
    modules: ['net', 'tls', 'dgram', 'dns', 'dns/promises', 'http', 'https', 'http2', 'undici', 'dns-packet'],
    folders: ['src/probe/', 'client/', 'lab/'],
    why: 'in src/, only probe, fetch and delivery connect to the internet',
    except: [
      { folder: 'src/fetch/', module: 'undici', names: ['Agent', 'request'] },
      { folder: 'src/delivery/sending/', module: 'undici', names: ['Agent', 'request'] },
      { folder: 'src/delivery/', module: 'net', names: ['isIP'] },
      { folder: 'src/fetch/', module: 'net', names: ['connect', 'isIP'] },
      { folder: 'src/fetch/', module: 'tls', names: ['connect'] },
      { folder: 'src/fetch/', module: 'dns', names: ['lookup'] },
      { folder: 'src/fetch/', module: 'dns/promises', names: ['resolveNs'] },
      { folder: 'src/values/', module: 'net', names: ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress'] },
      { folder: 'src/api/http/', module: 'http', names: ['ServerResponse', 'STATUS_CODES'] },
      { folder: 'src/server/', module: 'http', names: ['createServer', 'STATUS_CODES'] },
      { folder: 'src/server/', module: 'net', names: ['createServer', 'connect'] }, // connects to its own listener only
      { folder: 'src/cli/', module: 'http', names: ['createServer'] }, // answers until the demo starts
    ],
  },
  {
    modules: ['@aws-sdk/client-s3'],
    folders: ['src/jobs/file-store/'],
    why: 'only the file store uses S3',
  },
  { modules: ['sqlite'], folders: ['src/store/sqlite/'], why: 'only the SQLite engine uses SQLite' },
  {
    modules: ['pg', 'pg-copy-streams'],
    folders: ['src/store/postgres/'],
    why: 'only the PostgreSQL engine uses PostgreSQL',
  },
]

const ROOT = `${import.meta.dirname}/..`
const FOLDERS = LAYERS.flatMap((folders, layer) =>
  folders.map((folder) => ({ folder, layer, isPure: PURE.includes(folder) })),
)

/** The maximum number of files in one folder, without those of its subfolders. */
const MAX_FILES = 15
const MAX_TEST_FILES = 18
const LARGE_FOLDERS = ['src/cli', 'bench'] // one file per command, and per bench

const isIn = (folders: readonly string[], path: string) => folders.some((folder) => path.startsWith(folder))

/** The longest folder of the table that a path begins with. */
const folderOf = (path: string) =>
  FOLDERS.filter(({ folder }) => path.startsWith(folder)).sort((a, b) => b.folder.length - a.folder.length)[0]

/** `target`: a path from the root if it is ours, otherwise a module. `names`: the imported values; none for types. */
type Import = { target: string; isOurs: boolean; names: string[] }

/** Import and export declarations, import() of values and types, and the addresses of workers. */
function readImports(path: string, text: string): Import[] {
  const { staticImports, staticExports } = parseSync(path, text).module
  const found: [specifier: string, names: string[]][] = staticImports.map(({ moduleRequest, entries }) => [
    moduleRequest.value,
    entries.flatMap(({ isType, importName: { kind, name } }) =>
      isType ? [] : [kind === 'Name' ? name! : kind === 'Default' ? 'default' : '*'],
    ),
  ])
  for (const { moduleRequest, isType, importName } of staticExports.flatMap(({ entries }) => entries))
    if (moduleRequest) found.push([moduleRequest.value, isType ? [] : [importName.name ?? '*']])
  for (const [, before, specifier] of text.matchAll(/(typeof )?\bimport\('([^']+)'\)(?!\.[A-Z])/g))
    found.push([specifier!, before === undefined ? ['*'] : []])
  for (const [, specifier] of text.matchAll(/\bimport\('([^']+)'\)\.[A-Z]/g)) found.push([specifier!, []])
  for (const [, specifier] of text.matchAll(/new URL\('(\.[^']*\.tsx?)', import/g)) found.push([specifier!, ['*']])
  return found.map(([specifier, names]) => {
    const ours = PACKAGES[specifier]
    if (ours !== undefined) return { target: ours, isOurs: true, names }
    const isOurs = specifier.startsWith('.')
    return {
      target: isOurs ? posix.join(posix.dirname(path), specifier) : specifier.replace(/^node:/, ''),
      isOurs,
      names,
    }
  })
}

/** The violations in one file, a sentence each. */
function violationsIn(path: string, text: string): string[] {
  const own = folderOf(path)
  if (own === undefined) return [`${path} is in no folder of the table`]
  const opening = /^(?:#!.*\n)?\/\*\*\s+\S+\s(?:(?!\*\/)[\s\S])*\.\s/.test(text)
  const violations = opening ? [] : [`${path} does not begin with a sentence that says what it is`]
  for (const { target, isOurs, names } of readImports(path, text)) {
    const says = `${path} imports ${target}, which`
    if (!isOurs) {
      for (const { modules, folders, why, except = [] } of MODULE_OWNERS) {
        if (!modules.includes(target) || isIn(folders, path)) continue
        const allowed = except.filter(({ folder, module }) => path.startsWith(folder) && module === target)
        const forbidden = names.filter((name) => !allowed.some((each) => each.names.includes(name)))
        violations.push(...forbidden.map((name) => `${path} imports ${name} from ${target}: ${why}`))
      }
      continue
    }
    const other = folderOf(target)
    if (other === undefined && /\.tsx?$/.test(target)) violations.push(`${says} is in no folder of the table`)
    if (other === undefined || other.folder === own.folder) continue
    if (other.layer >= own.layer)
      violations.push(`${says} is in ${other.layer > own.layer ? 'a higher' : 'the same'} layer`)
    for (const { folders, importers, why } of RESTRICTED)
      if (isIn(folders, target) && !isIn([...folders, ...importers], path))
        violations.push(`${says} only ${importers.join(', ') || 'nobody'} may import: ${why}`)
    if (own.isPure && !other.isPure && names.length > 0) violations.push(`${path} is pure, and ${target} is not`)
  }
  return violations
}

test('imports point to lower layers, and every file begins with a sentence that says what it is', () => {
  const paths = globSync('{src,client,lab,web}/**/*.{ts,tsx}', {
    cwd: ROOT,
    exclude: (path) => /(^|\/)(node_modules|dist)$|\.test\.tsx?$|\.d\.ts$|^api-types\.ts$/.test(path), // the last one is generated
  })
  assert.ok(paths.length > 0, 'no source file was found')
  const violations = paths.flatMap((path) => violationsIn(path, readFileSync(`${ROOT}/${path}`, 'utf8')))
  assert.deepEqual(violations, [])
})

test('every engine of the store has a row of its own, and only store/engines.ts may import it', () => {
  const shared = ['src/store/port/', 'src/store/shared/', 'src/store/ledger/', 'src/store/inverse/']
  const engines = globSync('src/store/*/', { cwd: ROOT }).map((path) => `${path.replace(/\/$/, '')}/`)
  const folders = engines.filter((folder) => !shared.includes(folder)).toSorted()
  const restricted = RESTRICTED.find(({ importers }) => String(importers) === 'src/store/engines.ts')
  assert.deepEqual(restricted?.folders.toSorted(), folders)
})

test('no folder is flat', () => {
  const all = globSync('{src,client,lab,web,test,bench}/**/*.{ts,tsx}', {
    cwd: ROOT,
    exclude: ['**/{node_modules,dist}'],
  })
  const folders = Map.groupBy(all, (path) => posix.dirname(path))
  const large = [...folders].filter(
    ([folder, { length }]) =>
      length > (/^(test|bench)/.test(folder) ? MAX_TEST_FILES : MAX_FILES) && !LARGE_FOLDERS.includes(folder),
  )
  assert.deepEqual(
    large.map(([folder]) => folder),
    [],
    'add subfolders',
  )
})

for (const [what, path, text, expected] of [
  ['a type of a higher layer', 'src/apply/a.ts', "type A = import('../store/b.ts').B", 'is in a higher layer'],
  ['a worker of a higher layer', 'src/store/a.ts', "new URL('../jobs/b.ts', import.meta.url)", 'is in a higher layer'],
  ['a neighbour', 'src/api/batch/a.ts', "export * from '../mcp/b.ts'", 'is in the same layer'],
  ['a restricted folder', 'src/server/a.ts', "import '../store/sqlite/b.ts'", 'only src/store/engines.ts may import'],
  [
    'a value of an impure folder',
    'src/observe/a.ts',
    "import { b } from '../probe/b.ts'",
    'is pure, and src/probe/b.ts',
  ],
  ['a network module', 'src/jobs/a.ts', "await import('undici')", 'imports * from undici'],
  ['another name of a module', 'src/api/http/a.ts', "import { request } from 'node:http'", 'imports request from http'],
  ['a file outside the table', 'src/api/a.ts', "import '../../test/b.ts'", 'is in no folder of the table'],
] as const) {
  test(`reports an import of ${what}`, () => {
    const [violation = '', ...others] = violationsIn(path, `/** The A. */\n${text}`)
    assert.ok(violation.includes(expected) && others.length === 0, [violation, ...others].join('\n'))
  })
}

test('allows types of any module, and reports a file without an opening sentence', () => {
  const text = "/** The A. */\nimport type { Socket } from 'node:net'\nimport { type C } from '../../probe/c.ts'"
  assert.deepEqual(violationsIn('src/server/a.ts', text.replace('../../', '../')), [])
  assert.deepEqual(violationsIn('src/api/a.ts', 'export const a = 1'), [
    'src/api/a.ts does not begin with a sentence that says what it is',
  ])
})
