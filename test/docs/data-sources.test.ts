/**
 * docs/data-sources.md has the formats of `import` and the options of `import` and `fetch`, and its examples are
 * correct.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { defineFetch } from '../../src/cli/fetch/fetch.ts'
import { defineImport } from '../../src/cli/import/import.ts'
import { REGISTRATION_FORMATS } from '../../src/cli/import/registrations.ts'
import { IMPORT_FORMATS } from '../../src/import/formats/import-formats.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { read } from '../import/formats/reading.ts'
import { codes, readPage, sections, tableOf } from './markdown.ts'

const page = readPage('data-sources.md')
const command = new Command('import')
defineImport(command)
const fetch = new Command('fetch')
defineFetch(fetch)

test('every format is in the table, with an example that uses it', () => {
  const rows = tableOf(page, 'format')
  assert.deepEqual(
    rows.map(([format]) => codes(format!)[0]),
    ['observations', ...Object.keys(IMPORT_FORMATS), ...REGISTRATION_FORMATS],
  )
  for (const [format, , example] of rows.slice(1))
    assert.match(example!, new RegExp(`^\`domaindex import --format ${codes(format!)[0]} \\S+\`$`))
  assert.deepEqual(
    tableOf(sections(page, 3).get('What each format provides')!, 'format').map(([format]) => codes(format!)[0]),
    Object.keys(IMPORT_FORMATS),
  )
})

test('every option of import and fetch is documented, and every documented option exists', () => {
  const named = new Set([...page.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([option]) => option))
  named.delete('--result-verbosity') // of zdns
  for (const other of ['--help', '--ct']) named.delete(other) // of every command, and of serve
  const options = [command, ...fetch.commands].flatMap((each) => each.options.map(({ long }) => long!))
  assert.deepEqual([...named].toSorted(), [...new Set(options)].toSorted())
})

test('the documented modules of zdns are the supported ones', () => {
  const [, kept = ''] = tableOf(sections(page, 3).get('What each format provides')!, 'format')[0]!
  const modules = codes(kept).filter((word) => /^[A-Z]+$/.test(word))
  assert.deepEqual(modules.toSorted(), [...RECORD_TYPES, 'ALOOKUP', 'MXLOOKUP', 'NSLOOKUP'].toSorted())
  const data = { answers: [], exchanges: [], servers: [], ipv4_addresses: [], authorities: [{ type: 'SOA' }] }
  for (const module of modules) {
    const results = { [module]: { status: 'NOERROR', timestamp: '2026-01-01T00:00:00Z', data } }
    assert.equal(
      read(IMPORT_FORMATS.zdns, [JSON.stringify({ name: 'example.com', results })]).observations.length,
      1,
      module,
    )
  }
})

test('the documented rows of passive DNS give the documented states', () => {
  const rows = page.match(/^\{"rrname".*$/gm)!
  const seen = read(IMPORT_FORMATS.cof, rows).observations as { observed_at: string; dns: { A: string[] } }[]
  const states = seen.filter(({ dns }, index) => String(dns.A) !== String(seen[index - 1]?.dns.A))
  assert.deepEqual(
    states.map(({ observed_at, dns }) => [Date.parse(observed_at) / 1000, dns.A]),
    [
      [1000, ['192.0.2.1']],
      [5000, ['192.0.2.1', '192.0.2.2']],
      [7001, ['192.0.2.2']],
    ],
  )
})
