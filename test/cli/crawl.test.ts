/** Tests `domaindex crawl` as a user runs it, with name servers and a web server of the test. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { suite, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startDnsServer } from '../../lab/dns.ts'
import type { DnsTable } from '../../lab/dns-table.ts'
import { readSettings } from '../../src/config/settings.ts'
import { parseAddressRange } from '../../src/probe/guard.ts'
import { crawlAccessOf, userAgentOf } from '../../src/server/crawl/crawl-access.ts'
import { parseName } from '../../src/values/domain-name.ts'
import { type IpAddress, parseAddress } from '../../src/values/ip-address.ts'
import { until } from '../until.ts'
import { folderOf, outcomeOf } from './run.ts'

const CONTACT = {
  DOMAINDEX_CRAWL_CONTACT: 'crawler@example.com',
  DOMAINDEX_CRAWL_SELF_CHECK: 'zones=none missing=none ipv4only=none addresses=none',
}
const NAMES = Array.from({ length: 40 }, (_, index) => `mail-${index}.example`)
const TABLE: DnsTable = {
  'servfail.example': 'servfail',
  'private.example': { A: ['10.1.2.3'], MX: [{ priority: 10, mail_server: 'mx.example' }] },
  ...Object.fromEntries(NAMES.map((name) => [name, { MX: [{ priority: 10, mail_server: 'mx.example' }], delay: 40 }])),
}

/**
 * Starts two resolvers for the length of the test. Returns the options that name them, and the hosts whose MX was
 * queried.
 */
async function resolverOf(t: TestContext, table = TABLE) {
  const asked: string[] = []
  const start = () =>
    startDnsServer(table, ({ host, type }) => {
      if (type === 'MX') asked.push(host)
    })
  const servers = [await start(), await start()]
  t.after(() => Promise.all(servers.map((server) => server.close())))
  return { options: servers.flatMap(({ address, port }) => ['--resolver', `${address}:${port}`]), asked }
}

const counts = (stdout: string): string => stdout.replace(/ \(.*\n/, '')

suite('domaindex crawl', { concurrency: 2 }, () => {
  test('a resolver that refuses the root zone is used, and the command says what it answered', async (t) => {
    const { options } = await resolverOf(t, { ...TABLE, '.': 'refused' })
    const { run } = folderOf(t)
    const { code, stdout, stderr } = await run(['crawl', ...options, 'mail-1.example'], { env: CONTACT })
    assert.match(stdout, /^probed 1, ok 1,/)
    assert.match(
      stderr,
      /^resolver 127\.0\.0\.1 port \d+ refused the query for the root zone \(REFUSED\), so it may know only some names\n/,
    )
    assert.equal(code, 0)
  })

  test('names of arguments, a file and standard input go into the store, and unusable ones are reported', async (t) => {
    const { options } = await resolverOf(t)
    const { run, path, withStore } = folderOf(t)
    const first = await run(['crawl', ...options, 'Mail-1.example', 'none.example', 'servfail.example'], {
      env: CONTACT,
    })
    assert.equal(
      counts(first.stdout),
      'probed 3, ok 1, nxdomain 1, servfail 1, website 0, applied 3, unchanged 0, stale 0',
    )
    assert.deepEqual([first.stderr, first.code], ['', 0])
    const list = '# names\nmail-2.example\n\nhttps://mail-3.example/\n'
    writeFileSync(path('list.gz'), gzipSync(list))
    const second = await run(['crawl', ...options, '--file', 'list.gz'], { env: CONTACT })
    assert.match(counts(second.stdout), /^probed 1, ok 1, .*, applied 1, .*, invalid 1$/)
    assert.match(second.stderr, /^line 4: a scheme does not belong to the name; send mail-3\.example\n$/)
    assert.equal(second.code, 3)
    assert.ok(!existsSync(path('list.gz.progress')))
    const third = await run(['crawl', ...options, '-'], { env: CONTACT, input: 'mail-4.example\nx\n' })
    assert.deepEqual(
      [third.code, third.stderr],
      [3, 'line 2: the name has no dot; send a bare domain name such as example.com\n'],
    )
    await withStore(async ({ facts }) => {
      for (const name of ['mail-1.example', 'mail-2.example', 'mail-4.example', 'none.example']) {
        assert.ok(await facts.lookup(parseName(name)!), name)
      }
    })
  })

  test('if only one resolver is named, a warning says once that no other one confirms its answers', async (t) => {
    const { options } = await resolverOf(t)
    const { stderr, code } = await folderOf(t).run(
      ['crawl', ...options.slice(0, 2), 'mail-1.example', 'none.example'],
      {
        env: CONTACT,
      },
    )
    assert.deepEqual(
      [stderr, code],
      [
        'only one resolver is configured, so no other one confirms its answers: add one of another operator with --resolver\n',
        0,
      ],
    )
  })

  test('--out appends observations that an import can read', async (t) => {
    const { options } = await resolverOf(t)
    const { run, runAlone, path } = folderOf(t)
    for (const name of ['mail-1.example', 'none.example']) {
      const { stdout } = await run(['crawl', ...options, name, '--out', 'seen.jsonl'], { env: CONTACT })
      assert.match(counts(stdout), /^probed 1, .*, written 1$/)
    }
    assert.ok(!existsSync(path('store.db')))
    const lines = readFileSync(path('seen.jsonl'), 'utf8').trimEnd().split('\n')
    const [first, second] = lines.map((line) => JSON.parse(line))
    assert.deepEqual([first.domain, first.dns.MX], ['mail-1.example', [{ priority: 10, mail_server: 'mx.example' }]])
    assert.deepEqual([second.dns, second.web], [{ status: 'nxdomain' }, undefined])
    assert.match((await run(['import', 'seen.jsonl'])).stdout, /^read 2, applied 2, /)
    const piped = await runAlone(['crawl', ...options, 'mail-2.example', '--out', '-'], { env: CONTACT })
    assert.equal(JSON.parse(piped.stdout).domain, 'mail-2.example')
    assert.match(piped.stderr, /written 1/)
  })

  test('a stopped crawl finishes the probes in flight and later continues, with each name once', async (t) => {
    const { options, asked } = await resolverOf(t)
    const { start, run, path } = folderOf(t)
    writeFileSync(path('list'), `${NAMES.join('\n')}\n`)
    const args = ['crawl', ...options, '--file', 'list', '--parallel', '2', '--out', 'seen.jsonl']
    const child = start(args, CONTACT)
    const outcome = outcomeOf(child)
    await until(() => asked.length >= 6)
    child.kill('SIGINT')
    const { signal, stdout, stderr } = await outcome
    const [, line] = /stopped after line (\d+) of list; run it again to continue/.exec(stderr)!
    assert.deepEqual([signal, counts(stdout).split(',')[0]], ['SIGINT', `probed ${line}`])
    assert.ok(Number(line) < NAMES.length)
    const again = await run(args, { env: CONTACT })
    assert.deepEqual([again.code, again.stderr], [0, `resuming after line ${line} of list\n`])
    assert.deepEqual(asked.toSorted(), NAMES.toSorted())
    assert.ok(!existsSync(path('list.progress')))
    assert.equal(readFileSync(path('seen.jsonl'), 'utf8').trimEnd().split('\n').length, NAMES.length)
  })

  test('a killed crawl also continues and skips no name', async (t) => {
    const { options, asked } = await resolverOf(t)
    const { start, run, path, withStore } = folderOf(t)
    writeFileSync(path('list'), `${NAMES.join('\n')}\n`)
    const args = ['crawl', ...options, '--file', 'list', '--parallel', '2']
    for (const seen of [4, 24]) {
      const child = start(args, CONTACT)
      const outcome = outcomeOf(child)
      await until(() => asked.length >= seen)
      child.kill('SIGKILL')
      await outcome
    }
    assert.equal((await run(args, { env: CONTACT })).code, 0)
    await withStore(async ({ facts }) => {
      for (const name of NAMES) assert.ok(await facts.lookup(parseName(name)!), name)
    })
  })

  test('standard input may be slow, and Ctrl-C ends the wait for it', async (t) => {
    const { options, asked } = await resolverOf(t)
    const child = folderOf(t).start(['crawl', '-', ...options, '--out', '-'], CONTACT)
    for (const name of ['mail-1.example', 'mail-2.example']) {
      child.stdin.write(`${name}\n`)
      await once(child.stdout, 'data')
    }
    const ended = outcomeOf(child)
    child.kill('SIGINT')
    const { signal, stderr } = await ended
    assert.deepEqual([asked, signal], [['mail-1.example', 'mail-2.example'], 'SIGINT'], stderr)
    assert.match(stderr, /^probed 2, /)
  })

  test('a forgotten name is not probed', async (t) => {
    const { options, asked } = await resolverOf(t)
    const { run } = folderOf(t)
    await run(['crawl', ...options, 'mail-1.example', 'mail-2.example'], { env: CONTACT })
    await run(['forget', 'mail-1.example'])
    asked.length = 0
    const { stdout, code } = await run(['crawl', ...options, 'mail-1.example', 'mail-2.example'], { env: CONTACT })
    assert.match(counts(stdout), /^probed 1, .*, forgotten 1$/)
    assert.deepEqual([asked, code], [['mail-2.example'], 0])
  })

  test('no query is sent for a name on the opt-out list, and a list with an invalid line is rejected', async (t) => {
    const { options, asked } = await resolverOf(t)
    const { run, path } = folderOf(t)
    const env = { ...CONTACT, DOMAINDEX_CRAWL_OPT_OUT: 'opt-out' }
    writeFileSync(path('opt-out'), 'mail-1.example # by letter\nnonsense\n')
    const refused = await run(['crawl', ...options, 'mail-2.example'], { env })
    assert.match(
      refused.stderr,
      /^domaindex: opt-out, line 2: "nonsense" is not a name.*\(DOMAINDEX_CRAWL_OPT_OUT\)\n$/,
    )
    writeFileSync(path('opt-out'), 'mail-1.example\n')
    const { stdout, code } = await run(['crawl', ...options, 'mail-1.example', 'mail-2.example'], { env })
    assert.match(counts(stdout), /^probed 1, ok 1, .*, opted_out 1$/)
    assert.deepEqual([asked, code], [['mail-2.example'], 0])
  })

  test('an impossible command is rejected with one line that says what to do', async (t) => {
    const { options, asked } = await resolverOf(t)
    const { run, path } = folderOf(t)
    writeFileSync(path('list'), 'mail-1.example\n')
    for (const [args, expected, env] of [
      [['a.example'], /^domaindex: set DOMAINDEX_CRAWL_CONTACT to .*\n$/, {}],
      [[], /^domaindex: give the names to crawl, or --file LIST, or - for standard input\n$/, CONTACT],
      [['a.example', '--file', 'list'], /^domaindex: give either names or --file LIST, not both\n$/, CONTACT],
      [['--file', 'none'], /^domaindex: none cannot be read: no such file or directory\n$/, CONTACT],
      [['--file', 'list', '--out', 'list'], /^domaindex: list is the list itself: .*\n$/, CONTACT],
      [['--file', 'list', '--allow', '10.0.0.1/8'], /It must be an address or a range such as/, CONTACT],
      [['--file', 'list', '--allow', '169.254.0.0/16'], /--allow 169\.254\.0\.0\/16 has no effect/, CONTACT],
      [
        ['--file', 'list', '--allow', '0.0.0.0/0'],
        /0\/0 contains public addresses: set DOMAINDEX_CRAWL_CONTACT to/,
        {},
      ],
      [['--file', 'list', '--parallel', '0'], /It must be a whole number from 1 to/, CONTACT],
      [['--file', 'list', '--resolver', 'dns.example'], /It must be ADDRESS, ADDRESS:PORT or/, CONTACT],
      [
        ['--file', 'list', '--resolver', '127.0.0.1:9'],
        /^domaindex: no resolver answers \(127\.0\.0\.1 port 9\)/,
        CONTACT,
      ],
    ] as [string[], RegExp, Record<string, string>][]) {
      const named = args.includes('--resolver') ? [] : options
      const { code, stdout, stderr } = await run(['crawl', ...named, ...args], { env })
      const isUsage = /^domaindex: (option '|give )/.test(stderr)
      assert.deepEqual([code, stdout], [isUsage ? 2 : 1, ''], stderr)
      assert.match(stderr, expected)
    }
    assert.deepEqual(asked, [])
    assert.ok(!existsSync(path('list.progress')))
  })

  test('--allow opens ranges of the operator on ports 80 and 443, and the request names the crawler', async (t) => {
    const site = await siteOf(t, '127.91.82.73')
    if (site === null) return t.skip('port 80 is not for this user, or in use')
    const { options } = await resolverOf(t, { 'site.example': { A: [site.address] } })
    const { runAlone } = folderOf(t)
    const visit = async (...given: Parameters<typeof runAlone>) => {
      site.received.length = 0
      const { stdout } = await runAlone(['crawl', ...options, 'site.example', '--out', '-', ...given[0]], given[1])
      return JSON.parse(stdout).web?.has_website
    }
    assert.equal(await visit(['--allow', '127.91.0.0/16'], { env: CONTACT }), true)
    assert.match(site.received.at(-1)!['user-agent']!, /^domaindex\/\d+\.\d+\.\d+ \(\+crawler@example\.com\)$/)
    assert.equal(await visit(['--allow', '127.91.0.0/16']), true, 'without a contact what is opened is looked at')
    assert.match(site.received.at(-1)!['user-agent']!, /^domaindex\/\d+\.\d+\.\d+$/)
    for (const [args, env] of [
      [[], CONTACT],
      [['--allow', '127.92.0.0/16'], CONTACT],
      [['--allow', '127.0.0.0/8'], { ...CONTACT, DOMAINDEX_HOST: site.address, DOMAINDEX_PORT: '80' }],
      [['--allow', '127.0.0.0/8'], { ...CONTACT, DOMAINDEX_ADMIN: '0.0.0.0:80' }],
    ] as [string[], Record<string, string>][]) {
      assert.equal(await visit(args, { env }), undefined)
      assert.deepEqual(site.received, [])
    }
  })
})

/**
 * Starts a web server on port 80 and collects the heads of its requests. Returns null if listening there is not
 * permitted.
 */
async function siteOf(t: TestContext, address: string) {
  const received: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    received.push(request.headers)
    response.setHeader('Content-Type', 'text/html').end('<p>Hello.')
  })
  const listens = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(80, address, () => resolve(true))
  })
  if (!listens) return null
  t.after(() => server.close())
  return { address, received }
}

test('in opened ranges, resolvers, the own listeners and link-local addresses stay closed', () => {
  const settings = readSettings({
    ...CONTACT,
    DOMAINDEX_HOST: '127.0.0.2',
    DOMAINDEX_PORT: '80',
    DOMAINDEX_ADMIN: 'localhost:443',
  })
  const [wide, ...own] = ['169.254.0.0/15', '127.0.0.0/8', '10.0.0.0/8'].map((text) => parseAddressRange(text)!)
  const address = (text: string): IpAddress => parseAddress(text)!
  const { guard } = crawlAccessOf(settings, [{ address: address('10.0.0.53'), port: 80 }], [wide!, ...own])
  const vetted = (text: string, port: number) => guard.vet(address(text), port) !== null
  assert.deepEqual(
    [vetted('127.0.0.1', 80), vetted('10.0.0.1', 80), vetted('93.184.216.34', 443), vetted('93.184.216.34', 80)],
    [true, true, true, true],
  )
  assert.deepEqual(
    [
      vetted('127.0.0.2', 80),
      vetted('127.0.0.1', 443), // localhost may be any of them
      vetted('10.0.0.53', 80),
      vetted('169.254.1.1', 80),
      vetted('127.0.0.1', 8080),
    ],
    [false, false, false, false, false],
  )
  const quiet = crawlAccessOf(readSettings({}), [{ address: address('10.0.0.53'), port: 53 }], own)
  assert.equal(quiet.guard.vet(address('93.184.216.34'), 80), null, 'nothing public without a contact')
  assert.notEqual(quiet.guard.vet(address('10.0.0.1'), 80), null)
})

test('the User-Agent contains the version of the package and the contact', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  assert.equal(userAgentOf('https://example.com/crawler'), `domaindex/${version} (+https://example.com/crawler)`)
  assert.equal(userAgentOf(null), `domaindex/${version}`)
})
