/** The opt-out list: which names and addresses it contains, and how it follows its file. */

import assert from 'node:assert/strict'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { OptOutListError, openOptOutList } from '../../../src/probe/policy/opt-out.ts'
import type { DomainName } from '../../../src/values/domain-name.ts'
import { type IpAddress, parseAddress } from '../../../src/values/ip-address.ts'
import { folderOf } from '../../cli/run.ts'
import { named } from '../internet.ts'

const at = (text: string): IpAddress => parseAddress(text) ?? assert.fail(`${text} is no address`)

/** A list in a file, with a manual clock. */
function listOf(t: TestContext, text: string) {
  const { path } = folderOf(t)
  const file = path('opt-out')
  const clock = { now: 0 }
  const output: string[] = []
  const open = () => openOptOutList(file, { nowMs: () => clock.now, log: (words) => output.push(words) })
  writeFileSync(file, text)
  return { file, clock, output, open, write: (changed: string) => writeFileSync(file, changed) }
}

const namesOn = (list: { hasName(name: DomainName): boolean }, ...texts: string[]): string[] =>
  texts.filter((text) => list.hasName(named(text)))

test('a name matches with its www., a suffix matches itself and all names below it, and case, spacing and comments do not matter', (t) => {
  const list = listOf(
    t,
    '\ufeff# who wants none\r\nExample.com. # since May\n\n  .example.org\n*.bücher.example\n.museum',
  ).open()
  const all = [
    ...['example.com', 'www.example.com', 'a.example.com', 'www.www.example.com', 'notexample.com', 'example.com.a'],
    ...['example.org', 'www.example.org', 'a.b.example.org', 'notexample.org', 'org.example'],
    ...['xn--bcher-kva.example', 'a.xn--bcher-kva.example', 'a.museum', 'museum.example'],
  ]
  assert.deepEqual(namesOn(list, ...all), [
    ...['example.com', 'www.example.com', 'example.org', 'www.example.org', 'a.b.example.org'],
    ...['xn--bcher-kva.example', 'a.xn--bcher-kva.example', 'a.museum'],
  ])
})

test('ranges contain their addresses, including mapped forms', (t) => {
  const list = listOf(t, '192.0.2.0/24\n198.51.100.7\n2001:db8::/32\n').open()
  const all = [
    '192.0.2.255',
    '192.0.3.0',
    '198.51.100.7',
    '198.51.100.8',
    '2001:db8:ffff::1',
    '2001:db9::',
    '::ffff:192.0.2.9',
  ]
  assert.deepEqual(
    all.filter((text) => list.hasAddress(at(text))),
    ['192.0.2.255', '198.51.100.7', '2001:db8:ffff::1', '::ffff:192.0.2.9'],
  )
})

test('an invalid line is rejected at the start with its number, and so is an unreadable file', (t) => {
  const { open, write, file } = listOf(t, '')
  for (const line of [
    'localhost',
    'http://example.com/',
    '192.0.2.1/24',
    '*example.com',
    '.',
    '..example.com',
    'a b.com',
  ]) {
    write(`example.com\n\n${line}\n`)
    assert.throws(
      open,
      (error) => error instanceof OptOutListError && error.message.includes(`${file}, line 3: `),
      line,
    )
  }
  write(`10.0.0.1\n`.repeat(10_001))
  assert.throws(open, /has 10001 ranges: the maximum is 10000/)
  write('a'.repeat(9 * 1024 * 1024))
  assert.throws(open, /larger than 8 MiB/)
  rmSync(file)
  assert.throws(open, /opt-out cannot be read: the file does not exist/)
})

test('additions take effect within a second, and removals a second later', (t) => {
  const { open, write, clock } = listOf(t, 'a.example\nb.example\n')
  const list = open()
  write('b.example\nc.example\n198.51.100.0/24\n')
  assert.deepEqual(namesOn(list, 'a.example', 'b.example', 'c.example'), ['a.example', 'b.example'])
  clock.now += 1000
  assert.deepEqual(namesOn(list, 'a.example', 'b.example', 'c.example'), ['a.example', 'b.example', 'c.example'])
  assert.ok(list.hasAddress(at('198.51.100.1')))
  clock.now += 1000
  assert.deepEqual(namesOn(list, 'a.example', 'b.example', 'c.example'), ['b.example', 'c.example'])
})

test('a file that is written in parts never frees a name that stays on it', (t) => {
  const { open, write, clock } = listOf(t, 'a.example\nb.example\n')
  const list = open()
  for (const piece of ['', 'a.example\n', 'a.example\nb.exam', 'a.example\nb.example\nc.example\n']) {
    write(piece)
    clock.now += 1000
    assert.deepEqual(namesOn(list, 'a.example', 'b.example'), ['a.example', 'b.example'], piece)
  }
  assert.deepEqual(namesOn(list, 'c.example'), ['c.example'])
})

test('while the file is unusable, the list stays as it was, and this is reported once', (t) => {
  const { open, write, clock, output, file } = listOf(t, 'a.example\n')
  const list = open()
  const later = (): string[] => {
    clock.now += 1000
    return namesOn(list, 'a.example', 'b.example')
  }
  write('b.example\nnonsense\n')
  assert.deepEqual([later(), later(), later()], [['a.example'], ['a.example'], ['a.example']])
  assert.equal(output.length, 1)
  assert.match(output[0]!, /not reloaded: .*opt-out, line 2: "nonsense" is not a name/)
  rmSync(file)
  assert.deepEqual([later(), later()], [['a.example'], ['a.example']])
  assert.match(output[1]!, /the file does not exist/)
  writeFileSync(`${file}.new`, 'b.example\n')
  renameSync(`${file}.new`, file)
  assert.deepEqual([later(), later()], [['a.example', 'b.example'], ['b.example']])
  assert.equal(output.length, 2)
})

const MANY = Array.from({ length: 12_000 }, (_, index) => `name-${index}.example\n`).join('')

test('a long list is read in parts between which other work runs, and the old list stays until it is read', async (t) => {
  const { open, write, clock, output } = listOf(t, 'a.example\n')
  const list = open()
  write(`${MANY}b.example\n`)
  clock.now += 1000
  let turns = 0
  for (; !list.hasName(named('b.example')); turns++) {
    assert.deepEqual(namesOn(list, 'a.example', 'name-0.example'), ['a.example'])
    clock.now += 1000
    await turn()
  }
  assert.equal(turns, 2, 'of 12,001 lines 5,000 at once')
  assert.deepEqual(namesOn(list, 'a.example', 'name-0.example'), ['name-0.example'])
  write(`${MANY}nonsense\n`)
  for (clock.now += 1000; output.length === 0; ) {
    assert.deepEqual(namesOn(list, 'b.example'), ['b.example'])
    await turn()
  }
  assert.match(output[0]!, /not reloaded: .*line 12001: "nonsense" is not a name/)
})

test('after close, nothing more is read', async (t) => {
  const long = listOf(t, 'a.example\n')
  const half = long.open()
  long.write(`${MANY}nonsense\n`)
  long.clock.now += 1000
  assert.deepEqual(namesOn(half, 'a.example'), ['a.example'])
  half.close()
  for (let turns = 0; turns < 9; turns++) await turn()
  assert.deepEqual([namesOn(half, 'a.example'), long.output], [['a.example'], []])

  const { open, write, clock } = listOf(t, 'a.example\n')
  const list = open()
  list.close()
  write('b.example\n')
  clock.now += 1000
  assert.deepEqual(namesOn(list, 'a.example', 'b.example'), ['a.example'])
})
