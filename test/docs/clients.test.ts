/** The programs in docs/clients.md and in the README of the client library print what they show. */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { MCP_TOOLS } from '../../src/api/mcp/mcp-server.ts'
import { linesOfName, nameHistories } from '../../src/export/export.ts'
import { writeParquet } from '../../src/export/parquet.ts'
import { outcomeOf } from '../cli/run.ts'
import { listOf, publish } from '../spec/files/files.ts'
import { makeWorld } from '../spec/world.ts'
import { codes, readPage, sections, tableOf } from './markdown.ts'

const LIBRARY = fileURLToPath(new URL('../../client/src/client.ts', import.meta.url))

const noCurl = spawnSync('curl', ['--version']).status === 0 ? false : 'there is no curl'
const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'there is no python3'

const noDnsdbq = spawnSync('dnsdbq', ['-v']).status === 0 ? false : 'there is no dnsdbq'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium', periods: ['premium:2026-01-01..'] })
const folder = mkdtempSync(join(tmpdir(), 'domaindex-clients-'))
after(() => rmSync(folder, { recursive: true }))

before(async () => {
  await world.ingest(
    ...readPage('example.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  )
  await publish(world, '2026-11-19.txt.gz', listOf('new-one.example', 'new-two.example'))
})

/** Runs a program with the library of the checkout and the server of the test. Returns what it printed. */
async function outputOf(program: string, name: string): Promise<string> {
  const path = join(folder, `${name}.mts`)
  const text = program.replaceAll("'@domaindex/client'", `'${LIBRARY}'`)
  writeFileSync(path, text.replaceAll('https://api.example.com', world.address))
  const env = { ...process.env, DOMAINDEX_TOKEN: token }
  const { stdout, stderr, code } = await outcomeOf(spawn(process.execPath, [path], { env }))
  assert.equal(code, 0, stderr)
  return stdout
}

test('the programs of the library print what the page shows', async () => {
  const section = sections(readPage('clients.md'), 2).get('The library')!
  const programs = [...section.matchAll(/```ts\n([^`]+)```\n\n```\n([^`]+)```/g)]
  assert.equal(programs.length, section.split('```ts').length - 1, 'each program has its output')
  for (const [index, [, program, output]] of programs.entries())
    assert.equal(await outputOf(program!, `library${index}`), output)
})

test('the first programs of the README of the library run', async () => {
  const page = readFileSync(new URL('../../client/README.md', import.meta.url), 'utf8')
  const programs = [...page.matchAll(/```ts\n([^`]+)```/g)].map(([, program]) => program!)
  const [use, errors] = ['{ DomaindexClient }', '{ DomaindexError }'].map((name) =>
    programs.find((each) => each.includes(name)),
  )
  assert.match(await outputOf(use!, 'use'), /^both valid\nexample\.blog\n/)
  const client = /^const client = .*\n/m.exec(use!)![0]
  const both = errors!
    .replace('{ DomaindexError }', '{ DomaindexClient, DomaindexError }')
    .replace(/\n\n/, `\n${client}`)
  assert.equal(await outputOf(both, 'errors'), 'nothing is on record\n')
})

test('the program in Python prints what the page shows', { skip: noPython }, async () => {
  const section = sections(readPage('clients.md'), 2).get('curl and Python')!
  const [, program, output] = /```python\n([^`]+)```\n\n```\n([^`]+)```/.exec(section)!
  const path = join(folder, 'rows.py')
  writeFileSync(path, program!.replaceAll('https://api.example.com', world.address))
  const env = { ...process.env, DOMAINDEX_TOKEN: token }
  const { stdout, stderr, code } = await outcomeOf(spawn('python3', [path], { env }))
  assert.equal(code, 0, stderr)
  assert.equal(stdout, output)
})

test('the table of tools has those of the server', () => {
  const section = sections(readPage('clients.md'), 2).get('Language models')!
  const rows = tableOf(section, 'tool').map(([name]) => codes(name!)[0])
  assert.deepEqual(
    rows,
    MCP_TOOLS.map(({ name }) => name),
  )
})

test('the commands with curl answer', { skip: noCurl }, async () => {
  const section = sections(readPage('clients.md'), 2).get('curl and Python')!
  const commands = /```sh\n([^`]+)```/.exec(section)![1]!.trim().split('\n')
  const env = { ...process.env, DOMAINDEX_TOKEN: token }
  const outputs: string[] = []
  for (const command of commands) {
    const line = command.replace('https://api.example.com', world.address)
    const { stdout, stderr, code } = await outcomeOf(spawn('sh', ['-c', line], { env }))
    assert.equal(code, 0, stderr)
    outputs.push(stdout)
  }
  assert.equal(JSON.parse(outputs[0]!).result.ip, 'both')
  assert.match(outputs[1]!, /^target\nexample\.blog\n/)
})

test('dnsdbq prints what the page shows', { skip: noDnsdbq }, async () => {
  const section = sections(readPage('clients.md'), 2).get('Passive DNS clients and MISP')!
  const settings = join(folder, 'dnsdb-query.conf')
  const [, lines] = /```sh\n(DNSDB_API_KEY=[^`]+)```/.exec(section)!
  writeFileSync(settings, lines!.replaceAll('TOKEN', token).replaceAll('https://api.example.com', world.address))
  const env = { ...process.env, DNSDBQ_CONFIG_FILE: settings }
  const commands = [...section.matchAll(/```sh\n(dnsdbq [^\n]+)\n```\n\n```\n([^`]+)```/g)]
  assert.equal(commands.length, section.split('```sh\ndnsdbq').length - 1, 'each command has its output')
  for (const [, command, output] of commands) {
    const { stdout, stderr, code } = await outcomeOf(spawn('sh', ['-c', command!], { env }))
    assert.equal(code, 0, stderr)
    assert.equal(stdout, output, command)
  }
})

test('the lines of DNSDB are those of api.md', async () => {
  const section = sections(readPage('api.md'), 3).get('DNSDB')!
  const [, path, output] = /'http:\/\/127\.0\.0\.1:8080([^']+)'\n```\n\n```\n([^`]+)```/.exec(section)!
  const response = await fetch(world.address + path, { headers: { 'X-API-Key': token } })
  assert.equal(await response.text(), output)
})

test('DuckDB runs the queries over exported files', async () => {
  const section = sections(readPage('clients.md'), 2).get('Export')!
  const [tables, lines] = [join(folder, 'domains.parquet'), join(folder, 'pdns.jsonl.gz')]
  const { signal } = new AbortController()
  const listing = await world.store.listing.start({ signal })
  await writeParquet(
    'facts',
    tables,
    nameHistories(world.store, listing, signal, () => {}),
  )
  let text = ''
  for await (const batch of nameHistories(world.store, listing, signal, () => {}))
    for (const history of batch)
      text += linesOfName('cof', history, 0)
        .map((line) => `${line}\n`)
        .join('')
  await listing.close()
  writeFileSync(lines, gzipSync(text))
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const [servers, mail] = await Promise.all(
    /```sql\n([^`]+)```/
      .exec(section)![1]!
      .trim()
      .split('\n')
      .map(async (query) => {
        const real = query.replace("'domains.parquet'", `'${tables}'`).replace("'pdns.jsonl.gz'", `'${lines}'`)
        return (await connection.runAndReadAll(real)).getRowsJson()
      }),
  )
  connection.closeSync()
  assert.ok(servers!.length > 0)
  assert.ok(Array.isArray(mail))
})
