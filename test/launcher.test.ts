/** Tests the launcher: it passes arguments, streams, signals and the exit status from one Node to the other. */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'

const PROGRAM = `
import { createReadStream } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
const [what = '', value = ''] = process.argv.slice(2)
const deeds = {
  show: () => console.log(JSON.stringify([process.versions.node.split('.')[0], ...process.argv.slice(3)])),
  exit: () => process.exit(Number(value)),
  die: () => process.kill(process.pid, value),
  cache: () => console.log(JSON.stringify([process.env.NODE_COMPILE_CACHE, getCompileCacheDir()])),
  echo: () => process.stdin.pipe(process.stdout),
  listen: () => {
    process.on(value, () => console.log('heard'))
    createReadStream(null, { fd: 0 })
      .on('data', (chunk) => console.log(String(chunk)))
      .on('error', (error) => console.log(error.code))
      .on('end', () => process.exit())
  },
  wait: () => {
    process.once(value, () => {
      console.log('heard')
      process.exit(7)
    })
    setInterval(() => {}, 1000)
    console.log('ready')
  },
}
deeds[what]?.()
`

const root = mkdtempSync(join(tmpdir(), 'launcher-'))
after(() => rmSync(root, { recursive: true }))

/** Makes Node report an old version. The processes that it starts report the true one. */
const pretence = join(root, 'old.mjs')
writeFileSync(
  pretence,
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })",
)
const asOldNode = ['--import', pretence]

/**
 * Creates a package with the launcher and a program, and with its own Node at `node` if that is given. Returns the path
 * of the launcher.
 */
function makePackage(folder: string, program: string, node?: string) {
  mkdirSync(join(root, folder, dirname(program)), { recursive: true })
  cpSync(`${import.meta.dirname}/../bin`, join(root, folder, 'bin'), { recursive: true })
  writeFileSync(join(root, folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(root, folder, program), (program.endsWith('.ts') ? 'type Typed = string\n' : '') + PROGRAM)
  if (node !== undefined) {
    mkdirSync(join(root, node, 'bin'), { recursive: true })
    writeFileSync(join(root, node, 'package.json'), JSON.stringify({ version: process.versions.node }))
    symlinkSync(process.execPath, join(root, node, 'bin/node'))
  }
  return join(root, folder, 'bin/domaindex.js')
}

const checkout = makePackage('checkout', 'src/main.ts', 'checkout/node_modules/node')
const hoisted = makePackage('user/node_modules/domaindex', 'dist/src/main.js', 'user/node_modules/node')
const MACHINE = `${process.platform}-${process.arch}`
const byMachine = makePackage('global/domaindex', 'dist/src/main.js', `global/domaindex/node_modules/node-${MACHINE}`)
const lonely = makePackage('lonely', 'src/main.ts')
const lonelyPublished = makePackage('published', 'dist/src/main.js')
const own = String(Number.parseInt(process.versions.node, 10))

const run = (nodeOptions: string[], launcher: string, ...args: string[]) =>
  spawnSync(process.execPath, [...nodeOptions, launcher, ...args], { encoding: 'utf8', input: 'a line' })

for (const [what, options] of [
  ['a new Node', []],
  ['an old Node', asOldNode],
] satisfies [string, string[]][]) {
  test(`under ${what} the program gets the arguments as typed`, () => {
    const { stdout, stderr } = run(options, checkout, 'show', '--port', '1', 'two words', '')
    assert.deepEqual([JSON.parse(stdout), stderr], [[own, '--port', '1', 'two words', ''], ''])
  })

  test(`under ${what} compiled code is kept in the package, or where NODE_COMPILE_CACHE says`, () => {
    const { NODE_COMPILE_CACHE: _, ...plain } = process.env
    const folder = join(root, 'checkout/node_modules/.cache/compiled')
    for (const [env, expected] of [
      [plain, folder],
      [{ ...plain, NODE_COMPILE_CACHE: join(root, 'cache') }, join(root, 'cache')],
    ] as const) {
      const { stdout } = spawnSync(process.execPath, [...options, checkout, 'cache'], { encoding: 'utf8', env })
      const [inherited, used] = JSON.parse(stdout)
      assert.equal(inherited, expected)
      assert.ok(used.startsWith(expected), used)
      assert.ok(readdirSync(expected).length > 0)
    }
  })

  test(`under ${what} the program reads standard input`, () => {
    assert.equal(run(options, checkout, 'echo').stdout, 'a line')
  })

  test(`under ${what} the exit code and a fatal signal are those of the program`, () => {
    assert.equal(run(options, checkout, 'exit', '3').status, 3)
    assert.equal(run(options, checkout, 'die', 'SIGTERM').signal, 'SIGTERM')
  })

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    test(`under ${what} the program receives ${signal}`, async () => {
      const launched = spawn(process.execPath, [...options, checkout, 'wait', signal], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      await once(launched.stdout, 'data')
      launched.kill(signal)
      assert.deepEqual(await once(launched, 'exit'), [7, null])
    })
  }
}

test('under an old Node the program continues to read after a signal', async () => {
  const launched = spawn(process.execPath, [...asOldNode, checkout, 'listen', 'SIGINT'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const answer = async () => String((await once(launched.stdout, 'data'))[0]).trim()
  launched.stdin.write('one')
  assert.equal(await answer(), 'one')
  launched.kill('SIGINT')
  assert.equal(await answer(), 'heard')
  for (const each of ['two', 'three', 'four']) {
    launched.stdin.write(each)
    assert.equal(await answer(), each)
  }
  launched.stdin.end()
  await once(launched, 'exit')
})

test('if npx started it, the program stops once the shell between them is gone', async () => {
  const env = { ...process.env, npm_lifecycle_event: 'npx', npm_lifecycle_script: "'domaindex'" }
  const command = `"${process.execPath}" "${checkout}" wait SIGTERM; :`
  const shell = spawn(command, { shell: true, env, stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  shell.stdout.on('data', (chunk) => {
    output += chunk
    if (output === 'ready\n') shell.kill('SIGKILL')
  })
  await once(shell, 'close')
  assert.equal(output, 'ready\nheard\n')
})

test('under an old Node the program stops if the launcher is killed', async () => {
  const launched = spawn(process.execPath, [...asOldNode, checkout, 'wait', 'SIGTERM'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  launched.stdout.on('data', (chunk) => {
    output += chunk
    if (output === 'ready\n') launched.kill('SIGKILL')
  })
  await once(launched, 'close')
  assert.equal(output, 'ready\nheard\n')
})

test('a published package runs its compiled code on a Node that npm installed beside it', () => {
  assert.deepEqual(JSON.parse(run(asOldNode, hoisted, 'show', 'a').stdout), [own, 'a'])
})

test('a published package runs on the npm package with Node for this machine, without an install script', () => {
  assert.deepEqual(JSON.parse(run(asOldNode, byMachine, 'show', 'a').stdout), [own, 'a'])
})

const isBrought = ['linux-x64', 'linux-arm64', 'darwin-x64'].includes(MACHINE)

for (const [what, launcher, advice] of [
  ['a checkout', lonely, /\nRun "npm ci" in .*lonely\/ \(it includes Node 24\), or install Node 24 or newer/],
  ['a published package', lonelyPublished, /\nReinstall this package without --omit=optional .*, or install Node 24/],
] as const) {
  test(`without a new enough Node ${what} says what to do`, () => {
    const { status, stderr } = run(asOldNode, launcher, 'show')
    assert.equal(status, 1)
    assert.match(stderr, /needs Node 24 or newer, and this is Node 20\.0\.0\.\n/)
    assert.match(stderr, isBrought ? advice : /\nnpm provides no Node for .*: install Node 24 or newer/)
  })
}
