/** The architecture rules: which folder may import which, and what its files may use. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type ArchitectureRules, checkSources } from './walls/check-sources.ts'
import { readSource } from './walls/source.ts'
import { unjustifiedTimers } from './walls/test-timers.ts'

/** Files in one folder of tests or benches. `bench/` has one more for each bench. */
const MAX_TEST_FILES = 18

/** The parts of the probe, from the bottom layer to the top. */
const PROBE_FOLDERS = [
  'src/probe/',
  'src/probe/dns/',
  'src/probe/tls/',
  'src/probe/page/',
  'src/probe/http/',
  'src/probe/policy/',
  'src/probe/self-check/',
  'src/probe/host-addresses.ts',
  'src/probe/redirect-chain.ts',
  'src/probe/web.ts',
  'src/probe/probe.ts',
]

/** The scheduler, and its two sources of crawl requests. */
const CRAWLER_FOLDERS = ['src/crawler/', 'src/crawler/continuous/', 'src/crawler/list/']

const rules: ArchitectureRules = {
  /**
   * From the bottom layer to the top. A file imports only its own folder and lower layers. A file belongs to the
   * longest entry that its path begins with. Folders of one layer do not import each other.
   */
  layers: [
    [
      { folder: 'src/values/', pure: true, why: 'value types that every stage uses' },
      { folder: 'src/config/command-fault.ts', pure: true, why: 'the error that a command reports to its user' },
      {
        folder: 'client/',
        package: '@domaindex/client',
        why: 'a package of its own; it knows the API and no other folder',
      },
    ],
    [
      { folder: 'web/', why: 'the web page, code of the browser: of src/ it uses value types only' },
      { folder: 'src/accounts/', pure: true, why: 'rules of plans, periods and tokens' },
      {
        folder: 'src/similar/text/',
        pure: true,
        awaits: true,
        why: 'text in, term vector out; apply and store use it',
      },
      { folder: 'src/jobs/file-store/', why: 'publishes finished files; registrations and api use it' },
      { folder: 'src/import/stream/', why: 'bytes and lines of files, without their meaning' },
      { folder: 'src/probe/', why: 'the guard and ProbeResult, which all parts of the probe use' },
    ],
    [
      { folder: 'src/similar/postings/', pure: true, why: 'the encoding of the index; the store checks it' },
      { folder: 'src/probe/dns/', why: 'DNS queries' },
      { folder: 'src/probe/tls/', why: 'TLS handshakes and certificates' },
      { folder: 'src/probe/page/', why: 'start pages' },
    ],
    [
      { folder: 'src/probe/http/', why: 'HTTP requests; it takes its rate limiter as a parameter' },
      { folder: 'src/probe/self-check/', why: 'control queries' },
    ],
    [{ folder: 'src/probe/policy/', why: 'rate limits, backoff, robots.txt and opt-out' }],
    [
      { folder: 'src/probe/host-addresses.ts', why: 'the vetted addresses of a host' },
      { folder: 'src/probe/redirect-chain.ts', why: 'one chain of redirects' },
    ],
    [{ folder: 'src/probe/web.ts', why: 'the web part of a probe' }],
    [{ folder: 'src/probe/probe.ts', why: 'one probe of one domain' }],
    [
      { folder: 'src/observe/', pure: true, why: 'turns ProbeResult into Observation' },
      { folder: 'lab/', why: 'a small internet for the demo and the tests' },
    ],
    [{ folder: 'src/apply/', pure: true, why: 'turns Observation into Change' }],
    [{ folder: 'src/store/', why: 'the port of the store: saves a Change and answers queries' }],
    [
      {
        folder: 'src/store/ledger/',
        why: 'the statements and transactions of the ledger, over a session of an engine',
      },
    ],
    [
      { folder: 'src/store/sqlite/', why: 'an engine: it knows the port, not the other engine' },
      { folder: 'src/store/postgres/', why: 'an engine: it knows the port, not the other engine' },
    ],
    [{ folder: 'src/store/engines.ts', why: 'the table of engines' }],
    [{ folder: 'src/store/open.ts', why: 'opens a store with the engine of its URL' }],
    [
      { folder: 'src/import/', why: 'turns files into observations' },
      { folder: 'src/export/', why: 'writes what the store knows in formats that others read' },
      { folder: 'src/registrations/', why: 'stores which names were registered and dropped on a day' },
      { folder: 'src/similar/', why: 'maintains the /similar index and searches it' },
      { folder: 'src/crawler/', why: 'schedules probes and saves their results' },
    ],
    [
      { folder: 'src/crawler/continuous/', why: 'a source of crawl requests: the scheduler does not know it' },
      { folder: 'src/crawler/list/', why: 'a source of crawl requests: the scheduler does not know it' },
      { folder: 'src/fetch/', why: 'fetches zones, certificate logs and lists into the inbox and the store' },
    ],
    [{ folder: 'src/jobs/', why: 'builds the files that the API delivers' }],
    [{ folder: 'src/api/http/', why: 'connections, requests, responses and their limits, without their meaning' }],
    [
      { folder: 'src/api/auth/', why: 'who sends a request: tokens, sessions, passwords' },
      { folder: 'src/api/signing/', why: 'the keys of the installation, cursors and links to files' },
      { folder: 'src/api/page/', why: 'the files of the web page, and the page of the crawler' },
    ],
    [{ folder: 'src/api/quota/', why: 'the daily budget of a caller' }],
    [{ folder: 'src/api/endpoints/', why: 'what each endpoint answers' }],
    [{ folder: 'src/api/context/', why: 'what all requests of a process share' }],
    [{ folder: 'src/api/queries/', why: 'one call of an endpoint, from its caller to its response' }],
    [
      { folder: 'src/api/files/', why: 'the list of files, and each by its name' },
      { folder: 'src/api/batch/', why: 'many calls in one request' },
      { folder: 'src/api/mcp/', why: 'the tools of language models' },
      { folder: 'src/api/openapi/', why: 'the description of the endpoints and paths' },
    ],
    [{ folder: 'src/api/app/', why: 'what the web page calls' }],
    [{ folder: 'src/api/admin/', why: 'what operators call; it shows accounts as the web page does' }],
    [{ folder: 'src/api/', why: 'puts the paths together into a server' }],
    [{ folder: 'src/config/', why: 'the table of settings; lower layers get settings as parameters' }],
    [{ folder: 'src/server/', why: 'the processes of `serve`' }],
    [{ folder: 'src/cli/', why: 'the commands; wiring only' }],
    [{ folder: 'src/main.ts', why: 'the entry point: command line in, one command out' }],
  ],

  /** Folders that only some of the higher layers may import. */
  restricted: [
    {
      folders: ['src/store/sqlite/', 'src/store/postgres/'],
      importers: ['src/store/engines.ts'],
      why: 'the rest of the code works with every engine',
    },
    {
      folders: PROBE_FOLDERS,
      importers: [
        ...PROBE_FOLDERS,
        'src/observe/',
        'src/import/',
        'src/fetch/',
        ...CRAWLER_FOLDERS,
        'src/config/',
        'src/server/',
        'src/cli/',
        'lab/',
      ],
      why: 'no response waits for the internet',
    },
    { folders: ['src/fetch/'], importers: ['src/server/', 'src/cli/'], why: 'no response waits for a download' },
    {
      folders: CRAWLER_FOLDERS,
      importers: [...CRAWLER_FOLDERS, 'src/config/', 'src/server/', 'src/cli/'],
      why: 'no response waits for a crawl',
    },
    { folders: ['src/config/'], importers: ['src/server/', 'src/cli/'], why: 'settings are passed as parameters' },
    { folders: ['lab/'], importers: ['src/cli/'], why: 'only `demo` uses the lab' },
    { folders: ['client/'], importers: ['src/cli/'], why: 'only the client commands call an API' },
    { folders: ['web/'], importers: [], why: 'the browser loads it, and no process does' },
    { folders: ['src/main.ts'], importers: [], why: 'the entry point starts everything else' },
  ],

  /** Modules that only some folders may use. Every folder may import their types. */
  moduleOwners: [
    {
      modules: ['net', 'tls', 'dgram', 'dns', 'dns/promises', 'http', 'https', 'http2', 'undici', 'dns-packet'],
      folders: [...PROBE_FOLDERS, 'client/', 'lab/'],
      why: 'in src/, only probe and fetch connect to the internet',
      except: [
        { folder: 'src/fetch/', module: 'undici', names: ['Agent', 'request'] },
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
      except: [],
    },
    { modules: ['sqlite'], folders: ['src/store/sqlite/'], why: 'only the SQLite engine uses SQLite', except: [] },
    {
      modules: ['pg', 'pg-copy-streams'],
      folders: ['src/store/postgres/'],
      why: 'only the PostgreSQL engine uses PostgreSQL',
      except: [],
    },
  ],

  /**
   * In a pure folder, time, randomness and settings are parameters, and no function reads, writes or waits.
   * A folder that `awaits` may compile its WebAssembly when it is imported.
   */
  impure: {
    modules: ['fs', 'fs/promises', 'timers', 'timers/promises', 'child_process', 'worker_threads', 'os', 'process'],
    names: ['randomBytes', 'randomFillSync', 'randomInt', 'randomUUID', 'getRandomValues'],
    uses: {
      waits: ['await', 'setTimeout', 'setInterval', 'setImmediate'],
      clocks: ['new Date()', 'Date.now', 'performance.now', 'process.hrtime'],
      randomness: ['Math.random', 'crypto.randomUUID', 'crypto.getRandomValues'],
      environment: ['fetch', 'process.env'],
    },
  },

  forbiddenFileNames: ['utils.ts', 'types.ts', 'index.ts'],
  maxFolderFiles: 15,
  largeFolders: ['src/cli/'], // one file per command
  maxFileLines: 400,
  maxFunctionLines: 60,
}

/** The violations in files that are given as path and text. */
const violationsIn = (files: Record<string, string>) =>
  checkSources(
    Object.entries(files).map(([path, text]) => readSource(path, text)),
    rules,
  )

test('every engine of the store has a row of its own, and only store/engines.ts may import it', () => {
  const shared = ['src/store/port/', 'src/store/shared/', 'src/store/ledger/']
  const engines = globSync('src/store/*/').map((path) => `${path.replace(/\/$/, '')}/`)
  const folders = engines.filter((folder) => !shared.includes(folder)).toSorted()
  const rows = rules.layers.flat().map(({ folder }) => folder)
  assert.deepEqual(folders, rows.filter((folder) => /^src\/store\/(?!ledger)\w+\/$/.test(folder)).toSorted())
  const restricted = rules.restricted.find(({ importers }) => String(importers) === 'src/store/engines.ts')
  assert.deepEqual(restricted?.folders.toSorted(), folders)
})

test('the source files follow the architecture rules', () => {
  const paths = globSync('{src,client,lab,web}/**/*.{ts,tsx}', {
    cwd: `${import.meta.dirname}/..`,
    exclude: (path) => /(^|\/)(node_modules|dist)$|\.test\.tsx?$|\.d\.ts$|^api-types\.ts$/.test(path), // the last one is generated
  })
  const sources = paths.map((path) => readSource(path, readFileSync(`${import.meta.dirname}/../${path}`, 'utf8')))
  assert.ok(sources.length > 0, 'no source file was found')
  assert.deepEqual(checkSources(sources, rules), [])
})

test('every rule has a reason, and every folder that a rule names is in the table of layers', () => {
  const folders = rules.layers.flat()
  const known = new Set(folders.map(({ folder }) => folder))
  const named = [
    ...rules.restricted.flatMap(({ folders, importers }) => [...folders, ...importers]),
    ...rules.moduleOwners.flatMap((owner) => [...owner.folders, ...owner.except.map(({ folder }) => folder)]),
  ]
  assert.deepEqual(
    named.filter((folder) => !known.has(folder)),
    [],
  )
  for (const { why } of [...folders, ...rules.restricted, ...rules.moduleOwners]) assert.notEqual(why, '')
})

test('no folder of tests or benches is flat', () => {
  const counts = new Map<string, number>()
  for (const path of globSync('{test,bench}/**/*.ts', { cwd: `${import.meta.dirname}/..` })) {
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  const large = [...counts].filter(([folder, count]) => count > MAX_TEST_FILES && folder !== 'bench/')
  assert.deepEqual(large, [], 'add subfolders')
})

test('no test sets a timer without a reason: wait with until() of test/until.ts, for an event, or by a given clock', () => {
  assert.deepEqual(unjustifiedTimers(), { unjustified: [], needless: [] })
})

test('sources that follow the rules have no violations', () => {
  const files = {
    'src/values/domain-name.ts':
      "/** A name. */\nimport { isIP } from 'node:net'\nexport const a = isIP\nexport type Name = string",
    'src/probe/probe-result.ts':
      "/** A probe result. */\nimport { connect } from 'node:tls'\nexport type ProbeResult = typeof connect",
    'src/observe/observe.ts':
      "/** Observes it. */\nimport type { ProbeResult } from '../probe/probe-result.ts'\nexport type O = ProbeResult",
    'src/store/engines.ts': "// The engines.\nexport const load = () => import('./sqlite/store.ts')",
    'src/store/open.ts': "// Opens it.\nexport { load as open } from './engines.ts'",
    'src/store/sqlite/store.ts':
      "// SQLite it.\nimport { DatabaseSync } from 'node:sqlite'\nexport const d = DatabaseSync",
    'src/cli/serve.ts':
      "// Serves it.\nimport { open } from '../store/open.ts'\nimport { call } from '@domaindex/client'\nopen(call)",
    'client/client.ts': '// The client.\nexport const call = () => fetch("/")',
  }
  assert.deepEqual(violationsIn(files), [])
})

for (const [what, files, expected] of [
  [
    'an import of a higher layer',
    { 'src/values/a.ts': "// The A.\nimport '../api/b.ts'", 'src/api/b.ts': '// The B.' },
    ['src/values/a.ts imports src/api/b.ts, which is in a higher layer'],
  ],
  [
    'an import of a higher layer that is only a type, behind import()',
    { 'src/apply/a.ts': "// The A.\nexport type A = import('../store/b.ts').B", 'src/store/b.ts': '// The B.' },
    ['src/apply/a.ts imports src/store/b.ts, which is in a higher layer'],
  ],
  [
    'a worker file of a higher layer',
    { 'src/store/a.ts': "// The A.\nnew URL('../jobs/b.ts', import.meta.url)", 'src/jobs/b.ts': '// The B.' },
    ['src/store/a.ts imports src/jobs/b.ts, which is in a higher layer'],
  ],
  [
    'an import within a layer',
    { 'src/store/sqlite/a.ts': "// The A.\nexport * from '../postgres/b.ts'", 'src/store/postgres/b.ts': '// The B.' },
    [
      'src/store/sqlite/a.ts imports src/store/postgres/b.ts, which is in the same layer',
      'src/store/sqlite/a.ts imports src/store/postgres/b.ts, which only src/store/engines.ts may import: the rest of the code works with every engine',
    ],
  ],
  [
    'an import of a restricted folder',
    {
      'src/api/a.ts': "// The A.\nimport type { B } from '../config/settings.ts'\nexport type A = B",
      'src/config/settings.ts': '// The B.',
    },
    [
      'src/api/a.ts imports src/config/settings.ts, which is in a higher layer',
      'src/api/a.ts imports src/config/settings.ts, which only src/server/, src/cli/ may import: settings are passed as parameters',
    ],
  ],
  [
    'a cycle of types',
    {
      'src/values/a.ts': "// The A.\nimport type { B } from './b.ts'\nexport type A = B",
      'src/values/b.ts': "// The B.\nexport type { C } from './c.ts'",
      'src/values/c.ts': "// The C.\nimport { type A } from './a.ts'\nexport type C = A",
    },
    ['src/values/a.ts -> src/values/b.ts -> src/values/c.ts -> src/values/a.ts is an import cycle'],
  ],
  [
    'network modules outside the probe',
    {
      'src/api/a.ts':
        "// The A.\nimport { request } from 'node:http'\nimport type { Socket } from 'node:net'\nexport type S = Socket\nrequest('/')",
      'src/values/b.ts': "// The B.\nimport * as net from 'net'\nnet.connect(1)",
      'src/jobs/c.ts': "// The C.\nawait import('undici')",
    },
    [
      'src/api/a.ts imports request from http: in src/, only probe and fetch connect to the internet',
      'src/values/b.ts imports * from net: in src/, only probe and fetch connect to the internet',
      'src/jobs/c.ts imports * from undici: in src/, only probe and fetch connect to the internet',
    ],
  ],
  [
    'a database driver outside its engine',
    { 'src/api/a.ts': "// The A.\nimport pg from 'pg'\nexport const a = pg" },
    ['src/api/a.ts imports default from pg: only the PostgreSQL engine uses PostgreSQL'],
  ],
  [
    'a pure folder with a clock, randomness, a file, a wait and code of the probe',
    {
      'src/observe/a.ts': [
        '// The A.',
        "import { readFileSync } from 'node:fs'",
        "import { look } from '../probe/b.ts'",
        'export const a = async () => [Date.now(), new Date(), Math.random(), await look(), readFileSync]',
      ].join('\n'),
      'src/probe/b.ts': '// The B.\nexport const look = 1',
    },
    [
      'src/observe/a.ts is pure and imports readFileSync from fs',
      'src/observe/a.ts is pure and imports look from src/probe/b.ts, which is not',
      'src/observe/a.ts:4 is pure and uses Date.now',
      'src/observe/a.ts:4 is pure and uses new Date()',
      'src/observe/a.ts:4 is pure and uses Math.random',
      'src/observe/a.ts:4 is pure and uses await',
    ],
  ],
  [
    'a forbidden file name',
    { 'src/api/utils.ts': '// The U.' },
    ['src/api/utils.ts: the file name utils.ts is not allowed'],
  ],
  ['a file outside the folders', { 'src/cellar/a.ts': '// The A.' }, ['src/cellar/a.ts is in no folder of the rules']],
  [
    'an import from outside the folders',
    { 'src/api/a.ts': "// The A.\nimport '../../test/b.ts'" },
    ['src/api/a.ts imports test/b.ts, which is in no folder of the rules'],
  ],
  [
    'a file that does not say what it is',
    { 'src/api/a.ts': 'export const a = 1', 'src/api/b.ts': '// b' },
    [
      'src/api/a.ts does not begin with a sentence that says what it is',
      'src/api/b.ts does not begin with a sentence that says what it is',
    ],
  ],
  [
    'a file and a function that are too long',
    { 'src/api/a.ts': `// The A.\nexport function run() {${'\n'.repeat(400)}}` },
    [
      'src/api/a.ts:2 has a function of 401 lines, at most 60 are allowed',
      'src/api/a.ts has 402 lines, at most 400 are allowed',
    ],
  ],
  [
    'a folder with too many files',
    Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`src/api/a${index}.ts`, '// The A.'])),
    ['src/api/ has 16 files, at most 15 are allowed: add subfolders'],
  ],
] satisfies [string, Record<string, string>, string[]][]) {
  test(`reports ${what}`, () => assert.deepEqual(violationsIn(files), expected))
}
