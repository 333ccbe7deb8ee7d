/** The walls of the house: which room may import which, and what may stand in a room. Data rises, imports go down. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type House, judge } from './walls/judge.ts'
import { readSource } from './walls/source.ts'
import { unjustifiedWaits } from './walls/waits.ts'

const house: House = {
  /** From ground to roof. A file belongs to the longest room that its path begins with; rooms of one floor do not know each other. */
  floors: [
    [
      { room: 'src/words/', pure: true, why: 'the ground: the words that every stage speaks' },
      { room: 'client/', package: 'domaindex-client', why: 'a package of its own, knows the API and nothing of ours' },
    ],
    [
      { room: 'src/accounts/', pure: true, why: 'rules of plans, periods and tokens, said in words alone' },
      { room: 'src/similar/', pure: true, awaits: true, why: 'text in, signature and nearest out' },
      { room: 'src/input/', why: 'the bytes of files, before anybody knows what they mean' },
      { room: 'src/crawl/', why: 'owns Visit: what the internet answered' },
    ],
    [
      { room: 'src/observe/', pure: true, why: 'owns Observation: what a Visit means' },
      { room: 'lab/', why: 'the internet that the crawler meets in demo and tests' },
    ],
    [
      { room: 'src/czds/', why: 'fetches zones from ICANN, as files' },
      { room: 'src/apply/', pure: true, why: 'owns Change: what an Observation does to what was known' },
    ],
    [{ room: 'src/store/', why: 'the port: keeps a Change, answers who asks' }],
    [
      { room: 'src/store/sqlite/', why: 'an engine: knows the port, not the other engine' },
      { room: 'src/store/postgres/', why: 'an engine: knows the port, not the other engine' },
    ],
    [{ room: 'src/store/open.ts', why: 'URL in, engine out' }],
    [{ room: 'src/retrieval/', why: 'keeps the index of what start pages say, and answers from it' }],
    [{ room: 'src/schedule/', why: 'whose turn it is: brings what visits see into the store, given both' }],
    [{ room: 'src/nightly/', why: 'reads the store, makes the files that the API hands out' }],
    [{ room: 'src/api/', why: 'answers from the store and the shelf' }],
    [{ room: 'src/dashboard/', why: "shows an account, and the API's own handlers in its explorer" }],
    [{ room: 'src/config', why: 'every setting once; what is below gets settings as parameters' }],
    [{ room: 'src/commands/', why: 'wiring only' }],
    [{ room: 'src/main.ts', why: 'the roof: argv in, one command out' }],
  ],

  /** Rooms with a door to a few only, though others stand above them too. */
  doors: [
    { room: 'src/store/sqlite/', to: ['src/store/open.ts'], why: 'whoever sees an engine leans on it' },
    { room: 'src/store/postgres/', to: ['src/store/open.ts'], why: 'whoever sees an engine leans on it' },
    {
      room: 'src/crawl/',
      to: ['src/observe/', 'src/schedule/', 'src/config', 'src/commands/', 'lab/'],
      why: 'no answer waits for the internet',
    },
    { room: 'src/czds/', to: ['src/commands/'], why: 'no answer waits for a download' },
    { room: 'src/schedule/', to: ['src/config', 'src/commands/'], why: 'no answer waits for a crawl' },
    { room: 'src/config', to: ['src/commands/'], why: 'settings come in as parameters' },
    { room: 'lab/', to: ['src/commands/'], why: 'only `demo` plays' },
    { room: 'client/', to: ['src/commands/'], why: 'only the client commands call an API' },
    { room: 'src/main.ts', to: [], why: 'nothing stands on a roof' },
  ],

  /** Modules that one room keeps. Types are free everywhere. */
  keepers: [
    {
      modules: ['net', 'tls', 'dgram', 'dns', 'dns/promises', 'http', 'https', 'http2', 'undici', 'dns-packet'],
      rooms: ['src/crawl/', 'client/', 'lab/'],
      why: 'of src/, crawl is the only room that talks to the internet',
      except: [
        { room: 'src/czds/', module: 'undici', names: ['Agent', 'request'] },
        { room: 'src/words/', module: 'net', names: ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress'] },
        { room: 'src/api/', module: 'http', names: ['createServer', 'STATUS_CODES'] },
        { room: 'src/commands/', module: 'http', names: ['createServer', 'STATUS_CODES'] },
        { room: 'src/commands/', module: 'net', names: ['createServer', 'connect'] }, // to its own listener only: serve/closing.ts
      ],
    },
    { modules: ['sqlite'], rooms: ['src/store/sqlite/'], why: 'an engine speaks its own SQL', except: [] },
    {
      modules: ['pg', 'pg-copy-streams'],
      rooms: ['src/store/postgres/'],
      why: 'an engine speaks its own SQL',
      except: [],
    },
  ],

  /**
   * In a pure room time, randomness and settings come in as parameters, and nothing is read, written or waited for.
   * A room that `awaits` may compile its WebAssembly when it is imported.
   */
  impure: {
    modules: ['fs', 'fs/promises', 'timers', 'timers/promises', 'child_process', 'worker_threads', 'os', 'process'],
    names: ['randomBytes', 'randomFillSync', 'randomInt', 'randomUUID', 'getRandomValues'],
    uses: {
      waits: ['await', 'setTimeout', 'setInterval', 'setImmediate'],
      clocks: ['new Date()', 'Date.now', 'performance.now', 'process.hrtime'],
      dice: ['Math.random', 'crypto.randomUUID', 'crypto.getRandomValues'],
      world: ['fetch', 'process.env'],
    },
  },

  refusedNames: ['utils.ts', 'types.ts', 'index.ts'],
  fileLines: 250,
  functionLines: 40,
}

/** The complaints about files that are given as path and text. */
const complaints = (files: Record<string, string>) =>
  judge(
    Object.entries(files).map(([path, text]) => readSource(path, text)),
    house,
  )

test('the house keeps its walls', () => {
  const paths = globSync('{src,client,lab}/**/*.{ts,tsx}', {
    cwd: `${import.meta.dirname}/..`,
    exclude: (path) => /(^|\/)(node_modules|dist)$|\.test\.tsx?$|\.d\.ts$/.test(path),
  })
  const sources = paths.map((path) => readSource(path, readFileSync(`${import.meta.dirname}/../${path}`, 'utf8')))
  assert.ok(sources.length > 0, 'no source file was found')
  assert.deepEqual(judge(sources, house), [])
})

test('every wall says why it stands, and every room that is named exists in the table of floors', () => {
  const rooms = house.floors.flat()
  const known = new Set(rooms.map(({ room }) => room))
  const named = [
    ...house.doors.flatMap(({ room, to }) => [room, ...to]),
    ...house.keepers.flatMap((keeper) => [...keeper.rooms, ...keeper.except.map(({ room }) => room)]),
  ]
  assert.deepEqual(
    named.filter((room) => !known.has(room)),
    [],
  )
  for (const { why } of [...rooms, ...house.doors, ...house.keepers]) assert.notEqual(why, '')
})

test('no test sets a timer without a reason: wait with until() of test/until.ts, for an event, or by a clock that is given', () => {
  assert.deepEqual(unjustifiedWaits(), { unjustified: [], needless: [] })
})

test('a right house is not complained about', () => {
  const files = {
    'src/values/domain-name.ts':
      "/** A name. */\nimport { isIP } from 'node:net'\nexport const a = isIP\nexport type Name = string",
    'src/probe/probe-result.ts':
      "/** A visit. */\nimport { connect } from 'node:tls'\nexport type Visit = typeof connect",
    'src/observe/observe.ts':
      "/** Observes it. */\nimport type { Visit } from '../crawl/visit.ts'\nexport type O = Visit",
    'src/store/open.ts': "// Opens it.\nexport const open = () => import('./sqlite/store.ts')",
    'src/store/sqlite/store.ts':
      "// SQLite it.\nimport { DatabaseSync } from 'node:sqlite'\nexport const d = DatabaseSync",
    'src/cli/serve.ts':
      "// Serves it.\nimport { open } from '../store/open.ts'\nimport { call } from 'domaindex-client'\nopen(call)",
    'client/client.ts': '// The client.\nexport const call = () => fetch("/")',
  }
  assert.deepEqual(complaints(files), [])
})

for (const [what, files, expected] of [
  [
    'an import upward',
    { 'src/words/a.ts': "// The A.\nimport '../api/b.ts'", 'src/api/b.ts': '// The B.' },
    ['src/words/a.ts imports src/api/b.ts, which stands above it'],
  ],
  [
    'an import upward that is only a type, behind import()',
    { 'src/apply/a.ts': "// The A.\nexport type A = import('../store/b.ts').B", 'src/store/b.ts': '// The B.' },
    ['src/apply/a.ts imports src/store/b.ts, which stands above it'],
  ],
  [
    'a worker that stands above',
    { 'src/store/a.ts': "// The A.\nnew URL('../nightly/b.ts', import.meta.url)", 'src/nightly/b.ts': '// The B.' },
    ['src/store/a.ts imports src/nightly/b.ts, which stands above it'],
  ],
  [
    'an import next door',
    { 'src/store/sqlite/a.ts': "// The A.\nexport * from '../postgres/b.ts'", 'src/store/postgres/b.ts': '// The B.' },
    [
      'src/store/sqlite/a.ts imports src/store/postgres/b.ts, which stands on the same floor',
      'src/store/sqlite/a.ts imports src/store/postgres/b.ts, which opens to src/store/open.ts only: whoever sees an engine leans on it',
    ],
  ],
  [
    'a way around a door',
    {
      'src/api/a.ts': "// The A.\nimport type { B } from '../config.ts'\nexport type A = B",
      'src/config/settings.ts': '// The B.',
    },
    [
      'src/api/a.ts imports src/config/settings.ts, which stands above it',
      'src/api/a.ts imports src/config/settings.ts, which opens to src/commands/ only: settings come in as parameters',
    ],
  ],
  [
    'a circle of types',
    {
      'src/words/a.ts': "// The A.\nimport type { B } from './b.ts'\nexport type A = B",
      'src/words/b.ts': "// The B.\nexport type { C } from './c.ts'",
      'src/words/c.ts': "// The C.\nimport { type A } from './a.ts'\nexport type C = A",
    },
    ['src/words/a.ts -> src/words/b.ts -> src/words/c.ts -> src/words/a.ts is a circle'],
  ],
  [
    'the internet outside crawl',
    {
      'src/api/a.ts':
        "// The A.\nimport { request } from 'node:http'\nimport type { Socket } from 'node:net'\nexport type S = Socket\nrequest('/')",
      'src/words/b.ts': "// The B.\nimport * as net from 'net'\nnet.connect(1)",
      'src/nightly/c.ts': "// The C.\nawait import('undici')",
    },
    [
      'src/api/a.ts takes request from http: of src/, crawl is the only room that talks to the internet',
      'src/words/b.ts takes * from net: of src/, crawl is the only room that talks to the internet',
      'src/nightly/c.ts takes * from undici: of src/, crawl is the only room that talks to the internet',
    ],
  ],
  [
    'an engine outside its room',
    { 'src/api/a.ts': "// The A.\nimport pg from 'pg'\nexport const a = pg" },
    ['src/api/a.ts takes default from pg: an engine speaks its own SQL'],
  ],
  [
    'a pure room with a clock, dice, a file, a wait and the code of crawl',
    {
      'src/observe/a.ts': [
        '// The A.',
        "import { readFileSync } from 'node:fs'",
        "import { look } from '../crawl/b.ts'",
        'export const a = async () => [Date.now(), new Date(), Math.random(), await look(), readFileSync]',
      ].join('\n'),
      'src/crawl/b.ts': '// The B.\nexport const look = 1',
    },
    [
      'src/observe/a.ts is pure and takes readFileSync from fs',
      'src/observe/a.ts is pure and takes look from src/crawl/b.ts, which is not',
      'src/observe/a.ts:4 is pure and uses Date.now',
      'src/observe/a.ts:4 is pure and uses new Date()',
      'src/observe/a.ts:4 is pure and uses Math.random',
      'src/observe/a.ts:4 is pure and uses await',
    ],
  ],
  ['a refused name', { 'src/api/utils.ts': '// The U.' }, ['src/api/utils.ts: no file is called utils.ts']],
  ['a file without a room', { 'src/cellar/a.ts': '// The A.' }, ['src/cellar/a.ts stands in no room']],
  [
    'an import of what has no room',
    { 'src/api/a.ts': "// The A.\nimport '../../test/b.ts'" },
    ['src/api/a.ts imports test/b.ts, which stands in no room'],
  ],
  [
    'a file that does not say what it is',
    { 'src/api/a.ts': 'export const a = 1', 'src/api/b.ts': '// b' },
    [
      'src/api/a.ts does not open with a sentence that says what it is',
      'src/api/b.ts does not open with a sentence that says what it is',
    ],
  ],
  [
    'a file and a function that are too long',
    { 'src/api/a.ts': `// The A.\nexport function walk() {${'\n'.repeat(250)}}` },
    ['src/api/a.ts:2 has a function of 251 lines, 40 are allowed', 'src/api/a.ts has 252 lines, 250 are allowed'],
  ],
] satisfies [string, Record<string, string>, string[]][]) {
  test(`complains about ${what}`, () => assert.deepEqual(complaints(files), expected))
}
