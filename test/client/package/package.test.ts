/** The packed client library, installed in an empty project: in Node, in a browser and for the compiler. */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { build } from 'esbuild'
import { outcomeOf } from '../../cli/run.ts'
import { NO_BROWSER, startChromium } from '../../web/browser/chromium.ts'
import { installClient } from './installed.ts'
import { EXPECTED, makeConsumerWorld } from './served.ts'

const folder = mkdtempSync(join(tmpdir(), 'domaindex-client-'))
after(() => rmSync(folder, { recursive: true }))
const consumer = installClient(folder)
const project = dirname(consumer)
const { world, token } = await makeConsumerWorld()

/** The Node of the machine, which a user of the library may have. Null if there is only that of the project. */
const systemNode =
  process.env
    .PATH!.split(delimiter)
    .filter((path) => !path.includes('node_modules'))
    .map((path) => join(path, 'node'))
    .find((path) => existsSync(path) && isAtLeast18(path)) ?? null

function isAtLeast18(path: string): boolean {
  const { stdout } = spawnSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' })
  return Number.parseInt(stdout, 10) >= 18
}

for (const [what, path] of [
  ['the Node of the project', process.execPath],
  ['the Node of the machine', systemNode],
] as const) {
  test(`the installed library works in ${what}`, { skip: path === null && 'there is none' }, async () => {
    const { stdout, stderr } = await outcomeOf(spawn(path!, [consumer, world.address, token]))
    assert.equal(stderr, '')
    assert.deepEqual(JSON.parse(stdout), EXPECTED)
  })
}

test('the package has nothing but compiled code, types, README and license, and no dependencies', () => {
  const files = readdirSync(join(project, 'node_modules/@domaindex/client'), { recursive: true }).map(String)
  const others = files.filter((path) => !/^dist\/[\w-]+\.(js|d\.ts)$/.test(path)).toSorted()
  assert.deepEqual(others, ['LICENSE', 'README.md', 'dist', 'package.json'])
  assert.deepEqual(globSync(['[^.@]*', '@*/*'], { cwd: join(project, 'node_modules') }), ['@domaindex/client'])
})

test('the types serve a user with the strictest settings, with the types of a browser and no others', () => {
  writeFileSync(
    join(project, 'use.ts'),
    `import { DomaindexClient, DomaindexError, type ErrorKey, type RedirectRow } from '@domaindex/client'
    const client = new DomaindexClient({ server: 'https://api.example.com', token: 'secret' })
    export const ssl: 'valid' | 'nocert' | 'invalid' = (await client.lookup('example.com')).result.ssl
    for await (const row of client.redirectRows('example.com', { limit: 10 })) row satisfies RedirectRow
    for await (const { records } of client.dnshistoryStates('example.com', { type: 'MX' }))
      records satisfies { priority: number; mail_server: string }[]
    const { body } = await client.downloadDaily('2026-11-19', { followup: 7, signal: AbortSignal.timeout(1000) })
    export const gunzipped: ReadableStream = body.pipeThrough(new DecompressionStream('gzip'))
    // @ts-expect-error: the endpoint needs a query
    client.lookup()
    // @ts-expect-error: there is no such type
    client.dnshistory('example.com', { type: 'CAA' })
    export const isKnown = (error: unknown) => error instanceof DomaindexError && error.error === ('no_data' satisfies ErrorKey)
    `,
  )
  const strict = '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --skipLibCheck false --noEmit'
  const target = '--target es2022 --module nodenext --lib es2022,dom,dom.iterable,dom.asynciterable'
  const compiler = join(import.meta.dirname, '../../../node_modules/.bin/tsc')
  const { stdout, status } = spawnSync(compiler, [...strict.split(' '), ...target.split(' '), 'use.ts'], {
    cwd: project,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout)
})

test('the bundle for browsers has no module of Node, and works in one, from another origin', {
  skip: NO_BROWSER ?? false,
}, async (t) => {
  const { outputFiles, metafile } = await build({
    entryPoints: [consumer],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'library',
    write: false,
    metafile: true,
  })
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path))
  assert.deepEqual(
    imported.filter((path) => !path.includes('@domaindex/client/dist/')),
    [],
  )
  const script = outputFiles[0]!.text
  assert.doesNotMatch(script, /node:|require\(/)

  const page = createServer((_, response) =>
    response.setHeader('Content-Type', 'text/html').end(`<script>${script}</script>`),
  )
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
  const browser = await startChromium()
  t.after(async () => {
    await browser.close()
    page.close()
    page.closeAllConnections()
  })
  const tab = await browser.newPage()
  await tab.goto(`http://127.0.0.1:${(page.address() as AddressInfo).port}/`)
  const seen = await tab.evaluate(`library.consume(${JSON.stringify(world.address)}, ${JSON.stringify(token)})`)
  assert.deepEqual(seen, EXPECTED)
})
