/** The client dnsdbq of Debian against the DNSDB API. Skipped where it is not installed. */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { outcomeOf } from '../../cli/run.ts'
import { dnsdbWorld } from './world.ts'

const skip = spawnSync('dnsdbq', ['-v']).status === 0 ? false : 'there is no dnsdbq'

const world = await dnsdbWorld()
const { token } = await world.account({ plan: 'premium' })

/** What dnsdbq prints. It must exit with 0. */
async function run(args: readonly string[], { key = token as string, input = '' } = {}) {
  const env = {
    PATH: process.env.PATH,
    HOME: world.folder,
    DNSDBQ_CONFIG_FILE: '/dev/null',
    DNSDB_SERVER: world.address,
    DNSDB_API_KEY: key,
  }
  const child = spawn('dnsdbq', ['-u', 'dnsdb2', ...args], { env })
  child.stdin.end(input)
  const { code, stdout, stderr } = await outcomeOf(child)
  assert.equal(code, 0, stderr)
  return { stdout, stderr }
}
/** The rows of `-j`, as `name type data,…`. */
const rows = async (...args: string[]) =>
  (await run(['-j', ...args])).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map(({ rrname, rrtype, rdata }) => `${rrname} ${rrtype} ${(rdata as string[]).join()}`)

const WWW = ['www.shop.example. A 192.0.2.1', 'www.shop.example. A 192.0.2.2']
const NETWORK = [
  'shop.example. A 192.0.2.1',
  'www.shop.example. A 192.0.2.1',
  'www.shop.example. A 192.0.2.2',
  'gone.example. A 192.0.2.7',
  'shop.example. A 192.0.2.7',
]

test('-r prints the sets of a name as text', { skip }, async () => {
  const { stdout, stderr } = await run(['-r', 'www.shop.example'])
  assert.deepEqual(
    [stdout, stderr],
    [
      `;; record times: 2026-11-19 08:00:00 .. 2026-11-19 10:00:00 (2h 1s)
;; count: 2; bailiwick: shop.example.
www.shop.example.  A  192.0.2.1

;; record times: 2026-11-19 09:00:00 .. 2026-11-19 09:00:00 (1s)
;; count: 1; bailiwick: shop.example.
www.shop.example.  A  192.0.2.2

`,
      '',
    ],
  )
})

test('-r with a type, a bailiwick and wildcards; -g splits by time', { skip }, async () => {
  assert.deepEqual(await rows('-r', 'shop.example/NS/example'), ['shop.example. NS ns1.dns.example.,ns2.dns.example.'])
  assert.deepEqual(await rows('-r', '*.shop.example'), WWW)
  assert.deepEqual(await rows('-r', 'www.shop.*'), WWW)
  assert.deepEqual(await rows('-g', '-r', 'www.shop.example/A'), [WWW[0], WWW[1], WWW[0]])
  assert.equal((await rows('-t', 'NS,MX', '-r', 'shop.example')).length, 2)
})

test('-R, -n, -i and -N find by raw name, host, address and raw data', { skip }, async () => {
  const wire = Buffer.from('\x03www\x04shop\x07example\0').toString('hex')
  assert.deepEqual(await rows('-R', wire), WWW)
  assert.deepEqual(await rows('-n', 'mx.mail.example'), [
    'shop.example. MX 10 mx.mail.example.',
    'other.example. MX 20 mx.mail.example.',
  ])
  assert.equal((await rows('-n', '*.dns.example/NS')).length, 2)
  assert.deepEqual(await rows('-i', '192.0.2.2'), [NETWORK[2]])
  assert.deepEqual(await rows('-i', '192.0.2.0/24'), NETWORK)
  assert.deepEqual(await rows('-i', '192.0.2.2-192.0.2.7'), NETWORK.slice(2))
  assert.deepEqual(await rows('-i', '2001:db8::/32'), ['six.example. AAAA 2001:db8::5'])
  assert.deepEqual(await rows('-N', wire), ['alias.example. CNAME www.shop.example.'])
})

test('-A and -B fence loosely, with -c completely', { skip }, async () => {
  assert.deepEqual(await rows('-i', '192.0.2.0/24', '-A', '2026-11-19 08:30:00'), NETWORK.toSpliced(3, 1))
  assert.deepEqual(await rows('-i', '192.0.2.0/24', '-B', '2026-11-19 08:30:00'), NETWORK.toSpliced(2, 1))
  const fence = ['-A', '2026-11-19 08:30:00', '-B', '2026-11-19 09:30:00', '-c']
  assert.deepEqual(await rows('-i', '192.0.2.0/24', ...fence), [NETWORK[2]])
})

test('-l, -L and -O select, -s and -S sort by -k', { skip }, async () => {
  assert.deepEqual(await rows('-i', '192.0.2.0/24', '-l', '2'), NETWORK.slice(0, 2))
  assert.deepEqual(await rows('-i', '192.0.2.0/24', '-L', '2'), NETWORK.slice(0, 2))
  assert.deepEqual(await rows('-i', '192.0.2.0/24', '-l', '2', '-O', '2'), NETWORK.slice(2, 4))
  const sorted = (await rows('-i', '192.0.2.0/24', '-s', '-k', 'name')).map((row) => row.split(' ')[0])
  assert.deepEqual(
    sorted,
    ['gone', 'shop', 'shop', 'www.shop', 'www.shop'].map((name) => `${name}.example.`),
  )
  assert.equal((await rows('-i', '192.0.2.0/24', '-S', '-k', 'last'))[0], NETWORK[1])
})

test('-V summarize counts', { skip }, async () => {
  const summary = ['-V', 'summarize', '-i', '192.0.2.0/24']
  assert.equal(
    (await run(summary)).stdout,
    ';; record times: 2026-11-19 08:00:00 .. 2026-11-19 10:00:00\n;; count: 8; num_results: 5\n',
  )
  assert.match((await run([...summary, '-j', '-M', '3'])).stdout, /"count":4,"num_results":2/)
})

test('-p csv and -p minimal', { skip }, async () => {
  assert.equal(
    (await run(['-r', 'www.shop.example', '-p', 'csv', '-l', '1'])).stdout,
    `time_first,time_last,zone_first,zone_last,count,bailiwick,rrname,rrtype,rdata
"2026-11-19 08:00:00","2026-11-19 10:00:00",,,2,"shop.example.","www.shop.example.","A","192.0.2.1"
`,
  )
  assert.equal((await run(['-r', 'shop.example/NS', '-p', 'minimal'])).stdout, 'ns1.dns.example.\nns2.dns.example.\n')
  assert.equal(
    (await run(['-i', '192.0.2.0/24', '-p', 'minimal'])).stdout,
    'shop.example.\nwww.shop.example.\ngone.example.\n',
  )
})

test('-f answers a batch in order, -f -m merges it, and -f -f says how each ended', { skip }, async () => {
  const input = 'rrset/name/www.shop.example/A\nrdata/ip/192.0.2.0,24\nrdata/name/none.example\n'
  const counts = (stdout: string) => stdout.split('--\n').map((part) => part.split('\n').length - 1)
  assert.deepEqual(counts((await run(['-f', '-j'], { input })).stdout), [2, 5, 0, 0])
  const merged = (await run(['-f', '-m', '-j'], { input })).stdout.trimEnd().split('\n')
  assert.equal(merged.length, 7)
  const framed = (await run(['-f', '-f', '-j'], { input: `${input}rdata/ip/nonsense\n` })).stdout
  assert.match(framed, /^\+\+ rrset\/name\/www\.shop\.example\/A\n/)
  assert.match(framed, /-- NOERROR \(no results found for query\.\)/)
  assert.match(framed, /nonsense/)
})

test('-I prints the quota', { skip }, async () => {
  const { token: key } = await world.account()
  assert.equal(
    (await run(['-I'], { key })).stdout,
    'rate:\n\treset: 2026-11-21 00:00:00\n\tlimit: 100\n\tremaining: 100\n\tresults_max: 1000\n\toffset_max: 4000\n',
  )
  assert.equal(JSON.parse((await run(['-I', '-j'], { key })).stdout).rate.remaining, 100)
})

test('an error is printed with its status and its text', { skip }, async () => {
  const { stderr } = await run(['-r', 'shop.example'], { key: 'wrong' })
  assert.match(stderr, /libcurl 401 .* Error: The token is unknown, revoked or expired/)
  const { stderr: type } = await run(['-r', 'shop.example/FOO'])
  assert.match(type, /libcurl 400 .* Error: The record type "FOO" is unknown/)
})
