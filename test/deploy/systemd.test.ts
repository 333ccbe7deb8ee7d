/** Tests the systemd units: commands, paths and hardening; systemd-analyze judges them where it is installed. */

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { SETTINGS } from '../../src/config/settings.ts'
import { folderOf } from '../cli/run.ts'
import { DEPLOY_FILES, readText, runIfInstalled } from './deployment.ts'

const UNITS = DEPLOY_FILES.filter((path) => /\.(service|timer)$/.test(path))
const SERVICES = UNITS.filter((path) => path.endsWith('.service'))
/** The exposure, in tenths, that `systemd-analyze security` may report. Without hardening it is 96. */
const MAX_EXPOSURE = 20
const PROGRAM = '/opt/domaindex/bin/domaindex'

/** The values of each directive of a unit. */
function directivesOf(path: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [, name, value] of readText(path).matchAll(/^([A-Z]\w+)=(.*)$/gm))
    found.set(name!, [...(found.get(name!) ?? []), value!])
  return found
}

for (const path of SERVICES) {
  const directives = directivesOf(path)

  test(`${path} runs the installed program as its user, in the folder with its settings`, () => {
    assert.ok(directives.get('ExecStart')![0]!.includes(PROGRAM))
    assert.deepEqual(directives.get('User'), ['domaindex'])
    assert.deepEqual(directives.get('WorkingDirectory'), [`/var/lib/${directives.get('StateDirectory')![0]}`])
  })
}

test('the services share one list of hardening directives', () => {
  const [first, ...others] = SERVICES.map((path) => {
    const text = readText(path)
    return text.slice(text.indexOf('NoNewPrivileges='), text.indexOf('UMask='))
  })
  assert.ok(first!.split('\n').length > 20)
  for (const other of others) assert.equal(other, first)
})

test('a command that an administrator runs has the user, the folder and the program of the services', () => {
  const command = 'deploy/systemd/domaindex-command'
  const text = readText(command)
  assert.match(text, /^cd \/var\/lib\/domaindex /m)
  assert.ok(text.includes(`runuser -u domaindex -- ${PROGRAM} "$@"`))
  const checked = runIfInstalled('sh', ['-n', command])
  if (checked !== null) assert.equal(checked.status, 0, checked.output)
})

test('a service that serves has more files than connections, and survives a process that is out of memory', () => {
  for (const path of SERVICES.filter((each) => !each.includes('backup'))) {
    const directives = directivesOf(path)
    assert.ok(Number(directives.get('LimitNOFILE')![0]) > Number(SETTINGS.connections.defaultText))
    assert.deepEqual(directives.get('OOMPolicy'), ['continue'])
    assert.deepEqual(directives.get('KillMode'), ['mixed'], 'a signal goes to the primary, which ends the others')
  }
})

test('systemd-analyze finds no mistake in the units, and little exposure', (t) => {
  const { path } = folderOf(t)
  mkdirSync(path('units'))
  for (const unit of UNITS)
    writeFileSync(path(`units/${basename(unit)}`), readText(unit).replaceAll(PROGRAM, '/bin/true'))
  const copies = UNITS.map((unit) => path(`units/${basename(unit)}`))
  const verified = runIfInstalled('systemd-analyze', ['verify', ...copies])
  if (verified === null) return t.skip('systemd-analyze is not installed')
  const ours = verified.output.split('\n').filter((line) => line.includes('domaindex'))
  assert.deepEqual(ours, [])
  for (const service of copies.filter((copy) => copy.endsWith('.service'))) {
    const args = ['security', '--offline=yes', `--threshold=${MAX_EXPOSURE}`, '--no-pager', service]
    const { status, output } = runIfInstalled('systemd-analyze', args)!
    if (/unrecognized option/.test(output)) return t.skip('systemd-analyze cannot judge a unit offline')
    assert.equal(status, 0, output)
  }
})
