/**
 * Tests the index of a real `domaindex serve`: it follows imports, its process is restarted, and it shuts down in
 * order.
 */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { makeAccount, serverOf } from '../api/server.ts'
import { look, site } from '../spec/observations.ts'
import { until } from '../until.ts'

/** A file of observations: each name with its text. */
const linesOf = (texts: Record<string, string>) =>
  Object.entries(texts)
    .map(([name, text]) => `${JSON.stringify(look(name, { web: site({ text }) }))}\n`)
    .join('')

test('serve maintains the index beside its workers: it follows an import, is restarted when it dies, and shuts down in order', async (t) => {
  const { serve, run, path, withStore } = serverOf(t)
  const { token } = await withStore((store) => makeAccount(store, 'free'))
  const {
    address,
    process: server,
    log,
    outcome,
  } = await serve({ DOMAINDEX_INDEX: 'on', DOMAINDEX_WORKERS: '1', DOMAINDEX_LOG_LEVEL: 'debug' })
  const port = log().find(({ msg }) => msg === 'admin listener started')!.port
  const metric = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const value = new RegExp(`^domaindex_similar_${name} (\\d+)$`, 'm').exec(text)?.[1]
    return value === undefined ? null : Number(value)
  }
  const bring = async (texts: Record<string, string>) => {
    writeFileSync(path('seen.jsonl'), linesOf(texts))
    assert.equal((await run(['import', path('seen.jsonl')])).code, 0)
  }
  const rows = async (query: string) => {
    const response = await fetch(`${address}/v1.0/similar?token=${token}&query=${query}`)
    const { result } = (await response.json()) as { result: { target: string; similarity: number }[] }
    return result.map(({ target, similarity }) => `${target} ${similarity}`)
  }
  await bring({ 'a.example': 'hidden hydrangea', 'b.example': 'hidden hydrangea' })
  await until(async () => (await metric('documents')) === 1)
  await until(async () => (await rows('a.example')).length === 1)
  assert.deepEqual(await rows('a.example'), ['b.example 1'])
  await until(async () => (await metric('lag_seconds')) !== null)
  assert.equal(await metric('segments'), 1)

  const indexers = () => log().filter(({ msg }) => msg === 'indexer started')
  assert.equal(indexers().length, 1)
  const { pid, holder } = indexers()[0] as { pid: number; holder: string }
  if (existsSync('/proc/self/task')) {
    const nice = execFileSync('ps', ['-o', 'ni=', '-p', String(pid)])
      .toString()
      .trim()
    assert.equal(nice, '5', 'behind everything that answers requests')
  }
  const { code, stderr } = await run(['index'])
  assert.deepEqual(
    [code, stderr.startsWith(`domaindex: another process (${holder}) maintains the indexes`)],
    [1, true],
    stderr,
  )
  const jobs = async () => (await run(['jobs'])).stdout
  assert.match(await jobs(), new RegExp(`^the /similar index is maintained by: ${holder}$`, 'm'))
  // an import may hold the other one until the indexer tries again
  await until(async () => (await jobs()).includes(`the inverse index is maintained by: ${holder}\n`))

  process.kill(pid, 'SIGKILL')
  await until(() => indexers().length === 2)
  assert.equal(log().filter(({ msg }) => msg === 'child process died, restarting it').length, 1)
  await bring({ 'c.example': 'hidden hydrangea' })
  await until(async () => (await rows('a.example')).length === 2)
  server.kill('SIGTERM')
  assert.equal((await outcome).code, 0)
  assert.equal(log().filter(({ msg }) => msg === 'indexer stopped').length, 1)
  assert.ok(!(await outcome).stderr.includes('hydrangea'), 'no log holds what a page says')
  await withStore(async ({ jobs }) => assert.deepEqual(await jobs.lockHolders(), []))
})
