/**
 * What the code lists once and other files repeat, because they cannot import it: the page, the client, proxies, texts.
 */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { RECORD_TYPES as CLIENT_RECORD_TYPES, DomaindexClient } from '../../client/src/client.ts'
import { ENDPOINTS } from '../../src/api/endpoints/endpoints.ts'
import { CharacteristicsSchema } from '../../src/api/endpoints/lookup.ts'
import { envelopeOfPath } from '../../src/api/http/errors.ts'
import { MCP_TOOLS } from '../../src/api/mcp/mcp-server.ts'
import { NO_WEBSITE } from '../../src/apply/crawl-state.ts'
import { createProgram } from '../../src/cli/program/program.ts'
import { ENGINES } from '../../src/store/engines.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { RECORD_TYPES as PAGE_RECORD_TYPES } from '../../web/views/explorer/data/responses.ts'

const ROOT = `${import.meta.dirname}/../..`
const textOf = (...patterns: string[]): string =>
  globSync(patterns, { cwd: ROOT })
    .map((path) => readFileSync(`${ROOT}/${path}`, 'utf8'))
    .join('\n')

test('the page and the client have the record types of the API', () => {
  assert.deepEqual(PAGE_RECORD_TYPES.toSorted(), RECORD_TYPES.toSorted())
  assert.deepEqual(CLIENT_RECORD_TYPES, RECORD_TYPES)
})

const NUMBERS = ['seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']

test('a text that counts the record types counts those of the code', () => {
  const files = execFileSync('git', ['ls-files', 'src', 'web', 'client/src', 'docs', '*.md'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const counted = files
    .split('\n')
    .filter(
      (path) =>
        existsSync(`${ROOT}/${path}`) && /\.(ts|tsx|md)$/.test(path) && !/docs\/decisions\/|CHANGELOG/.test(path),
    )
    .flatMap((path) => {
      const text = readFileSync(`${ROOT}/${path}`, 'utf8')
      const counts = text.matchAll(
        new RegExp(`\\b(${NUMBERS.join('|')})\\s(?:(?:\\*\\s)?(?:DNS|record))?\\s?types\\b`, 'gi'),
      )
      return [...counts].map(([, number]) => [path, NUMBERS.indexOf(number!.toLowerCase()) + 7] as const)
    })
  assert.ok(counted.length > 5)
  assert.deepEqual(
    counted.filter(([, count]) => count !== RECORD_TYPES.length),
    [],
  )
})

test('the envelope of an error is that of its endpoint, where the path alone is known and in the proxies', () => {
  for (const { name, envelope } of ENDPOINTS) assert.equal(envelopeOfPath(`/v1.0/${name}`), envelope, name)
  const nested = ENDPOINTS.filter(({ envelope }) => envelope === 'result').map(({ name }) => name)
  for (const file of ['deploy/proxy/Caddyfile', 'deploy/proxy/nginx.conf']) {
    const listed = /v1\\\.0\/\+\(([a-z|]+)\)/.exec(textOf(file))?.[1]?.split('|')
    assert.deepEqual(listed?.toSorted(), nested.toSorted(), file)
  }
})

test('every endpoint has a command and a method of the client; one without files has a tool for language models', async () => {
  const commands = (await createProgram([])).commands.map((command) => command.name())
  const asked = new Set<string>()
  const source = {
    async ask(endpoint: string) {
      asked.add(endpoint)
      return { status: 404, body: {} }
    },
    openDaily: async () => ({ status: 404, body: {} }),
  }
  for (const tool of MCP_TOOLS) await tool.call(source, { domain: 'a.example', query: 'a.example', date: '2026-01-01' })
  for (const { name, file } of ENDPOINTS) {
    assert.ok(commands.includes(name), `domaindex ${name}`)
    const method = name === 'daily' ? 'downloadDaily' : name
    assert.ok(method in DomaindexClient.prototype, `client.${method}`)
    const endpoint = name === 'lookup' ? 'domain' : name // a tool asks for the profile, which contains the look-up
    if (file === null) assert.ok(asked.has(endpoint), `a tool that asks /${name}`)
  }
})

test('the page shows every field of a look-up, and the data sources name every key of an observation', () => {
  const page = textOf('web/views/explorer/**/*.tsx')
  const shownOtherwise = ['redirect_to_domain', 'social_networks'] // by the target, and by the accounts
  for (const field of Object.keys(CharacteristicsSchema.properties))
    assert.ok(page.includes(field) || shownOtherwise.includes(field), field)
  const observations = textOf('docs/data-sources.md')
  const { digest: _, redirect_host: __, social_networks: ___, ...keys } = NO_WEBSITE as Record<string, unknown>
  for (const key of Object.keys(keys)) assert.ok(observations.includes(key), key)
})

test('the command `lookup` prints every field of a look-up', async () => {
  const lookup = (await createProgram(['lookup'])).commands.find((command) => command.name() === 'lookup')!
  let help = ''
  lookup.configureOutput({
    writeOut(text) {
      help += text
    },
  })
  lookup.outputHelp()
  const fields = /^Fields: ([\w, ]+)/m.exec(help)![1]!.split(', ')
  assert.deepEqual(fields.toSorted(), ['query', ...Object.keys(CharacteristicsSchema.properties)].toSorted())
})

test('the guide for operators names every engine', () => {
  const guide = textOf('docs/operating.md')
  for (const { name } of ENGINES) assert.ok(guide.includes(name), name)
})

test('every file that the guides for developers name exists', () => {
  const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n')
  const named = [...textOf('docs/architecture.md', 'docs/releasing.md').matchAll(/`([\w./-]+\.(?:ts|tsx|js))`/g)]
  assert.ok(named.length > 50)
  assert.deepEqual(
    named.map(([, path]) => path!).filter((path) => !files.some((file) => `/${file}`.endsWith(`/${path}`))),
    [],
  )
})
