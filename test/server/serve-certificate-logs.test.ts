/** Tests the certificate logs of a real `domaindex serve --ct`: names, metrics, a restart, and an orderly end. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { serverOf } from '../api/server.ts'
import { logListOf } from '../fetch/ct/lists.ts'
import { labEntries, openFollower } from '../fetch/ct/world.ts'
import { until } from '../until.ts'

test('serve --ct follows certificate logs beside its workers, is restarted when it dies, and shuts down in order', async (t) => {
  const { lab } = await openFollower(t, await labEntries(300))
  const liar = await openFollower(t, await labEntries(20))
  liar.lab.faults = { wrongKey: true }
  const { serve, path, withStore } = serverOf(t)
  const logs = [lab, liar.lab].map((each) => ({ lab: each, kind: 'tiles' as const }))
  writeFileSync(path('list.json'), logListOf(logs))
  const settings = { DOMAINDEX_CT_LIST: path('list.json'), DOMAINDEX_WORKERS: '1' }
  const { process: server, log, outcome } = await serve(settings, ['--ct'])
  const starts = () => log().filter(({ msg }) => msg === 'following certificate logs')
  const names = async () => withStore(({ schedule }) => schedule.names(null, 100))
  await until(async () => (await names()).length === 6)
  await until(() =>
    log().some(({ msg }) => msg === 'certificate log left out: the signature of its tree head is wrong'),
  )
  const port = log().find(({ msg }) => msg === 'admin listener started')!.port
  const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const line = (name: string, { url }: { url: string }, value: number): string =>
    `domaindex_certificate_log_${name}{log="${url}"} ${value}\n`
  const wanted = [
    line('lag_entries', lab, 0),
    line('entries_total', lab, 300),
    line('new_names_total', lab, 6),
    line('left_out', lab, 0),
    line('left_out', liar.lab, 1),
  ]
  await until(async () => {
    const text = await metrics()
    return wanted.every((each) => text.includes(each))
  })
  process.kill(starts()[0]!.pid as number, 'SIGKILL')
  await until(() => starts().length === 2)
  server.kill('SIGTERM')
  assert.equal((await outcome).code, 0)
  assert.equal(log().filter(({ msg }) => msg === 'certificate logs stopped').length, 1)
})
