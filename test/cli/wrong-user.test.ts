/** A user who may not access the files of an installation is told which ones, whose they are, and what to do. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { after, suite, test } from 'node:test'
import type { Outcome } from './run.ts'
import { folderOf, outcomeOf, type Start } from './run.ts'

const NOBODY = '65534'
const isRoot = process.getuid?.() === 0
/**
 * Permissions do not hold for root, so its commands run as another user. The owner of a closed folder needs no other.
 */
const how: Start = isRoot
  ? { command: ['setpriv', '--reuid', NOBODY, '--regid', NOBODY, '--clear-groups', process.execPath] }
  : {}
const skip =
  process.getuid === undefined
    ? 'there are no users'
    : isRoot && spawnSync('setpriv', ['--version']).status !== 0 && 'there is no setpriv(1) of util-linux'

const { run, start, path } = folderOf({ after })
/** The other user cannot write the cache of the tests. Without one, every command compiles the program again. */
const NODE_COMPILE_CACHE = path('compiled')
mkdirSync(NODE_COMPILE_CACHE)
chmodSync(NODE_COMPILE_CACHE, 0o777)
const line = { domain: 'example.com', observed_at: '2026-11-01T00:00:00Z', dns: { status: 'ok', A: ['192.0.2.1'] } }

function runAsOther(args: string[], env: Record<string, string>): Promise<Outcome> {
  const child = start(args, { ...env, NODE_COMPILE_CACHE }, how)
  child.stdin.on('error', () => {}) // the command may end before it has read everything
  child.stdin.end(JSON.stringify(line))
  return outcomeOf(child)
}

const COMMANDS = [
  ['lookup', 'example.com'],
  ['account', 'list'],
  ['check'],
  ['migrate'],
  ['backup', 'backup'],
  ['export', 'cof', '--output', 'cof.jsonl'],
  ['copy'],
  ['sizes'],
  ['crawl', '--status'],
  ['import', '-'],
  ['serve'],
]

suite('the wrong user', { skip }, () => {
  for (const [what, closed] of [
    ['the folder of the store', 'folder'],
    ['the file of the store', 'folder/store.db'],
  ] as const) {
    test(`without access to ${what}, each command names it and its owner`, async () => {
      const folder = `${what.replaceAll(' ', '-')}`
      mkdirSync(path(`${folder}/folder`), { recursive: true })
      const env = {
        DOMAINDEX_STORE: `sqlite:${path(`${folder}/folder/store.db`)}`,
        DOMAINDEX_STORE_TO: `sqlite:${path(`${folder}/to.db`)}`,
        DOMAINDEX_PORT: '0',
        DOMAINDEX_ADMIN: 'off',
      }
      assert.equal((await run(['import', '-'], { env, input: JSON.stringify(line) })).code, 0)
      for (const each of ['.', folder, `${folder}/folder`]) chmodSync(path(each), 0o755)
      chmodSync(path(`${folder}/${closed}`), 0)
      const advice = isRoot
        ? `belongs to the user ${userInfo().username}, and this is the user \\S+: run the command as .* \\(sudo -u `
        : 'belongs to this user: change its permissions'
      const expected = new RegExp(`permission denied: ${path(`${folder}/folder`)}(/store.db)? ${advice}`)
      for (const args of COMMANDS) {
        const { code, stderr } = await runAsOther(args, env)
        assert.match(stderr, expected, args.join(' '))
        assert.deepEqual([code, /there is no store|^ +at /m.test(stderr)], [1, false], args.join(' '))
      }
      chmodSync(path(`${folder}/${closed}`), 0o700)
    })
  }

  test('without access to .env, a command says so', async () => {
    chmodSync(path('.'), 0o755)
    writeFileSync(path('.env'), '')
    chmodSync(path('.env'), 0)
    const { code, stderr } = await runAsOther(['config'], {})
    rmSync(path('.env'))
    assert.deepEqual(
      [code, stderr],
      [1, `domaindex: ${path('.env')} cannot be read: run the command as its owner, or in another folder\n`],
    )
  })

  test('without access to the inbox, the import names it and its owner', async () => {
    const env = { DOMAINDEX_STORE: `sqlite:${path('open/store.db')}`, DOMAINDEX_INBOX: path('open/inbox') }
    mkdirSync(env.DOMAINDEX_INBOX, { recursive: true })
    writeFileSync(path('open/inbox/example.zone'), '')
    for (const each of ['.', 'open']) chmodSync(path(each), 0o777)
    chmodSync(env.DOMAINDEX_INBOX, 0)
    const { code, stderr } = await runAsOther(['import', '--inbox'], env)
    assert.match(stderr, new RegExp(`permission denied: ${env.DOMAINDEX_INBOX} belongs to `))
    assert.equal(code, 1)
    chmodSync(env.DOMAINDEX_INBOX, 0o700)
  })
})
