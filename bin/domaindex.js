#!/usr/bin/env node
// The launcher: runs src/main.ts (dist/src/main.js in the published package) on Node 24, the package's own where the running one is older.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'

const NEEDED = 24
const MACHINE = `${process.platform}-${process.arch}`
/** The machines for which the package brings a Node, as its optional dependencies. */
const BROUGHT = ['linux-x64', 'linux-arm64', 'darwin-x64']
/** The packages that hold a Node for this machine, and need no install script. */
const PACKAGES = [`node-${MACHINE}`, `node-bin-${MACHINE}`, 'node']
/** Standard input, output and error. By number: process.stdin and the like set a pipe so that the program's own reads fail. */
const STREAMS = [0, 1, 2]
/** The name under which the launcher starts itself again. */
const LAUNCHED = 'domaindex'

const major = (version) => Number.parseInt(version, 10)

/** The program: its source in a checkout, its compiled form where the package is published without source. */
function findProgram() {
  const candidates = ['../src/main.ts', '../dist/src/main.js'].map((path) => new URL(path, import.meta.url))
  return candidates.find((candidate) => existsSync(candidate)) ?? null
}

/** Path of the Node that npm installed for this package, wherever npm put it; null when there is none that is new enough. */
function findOwnNode() {
  for (const name of PACKAGES) {
    try {
      const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
      const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
      if (major(JSON.parse(readFileSync(manifest, 'utf8')).version) >= NEEDED && existsSync(binary)) return binary
    } catch {} // it is not installed
  }
  return null
}

/** What to do where there is no Node that is new enough. */
function adviceFor(program) {
  const install = `install Node ${NEEDED} or newer (https://nodejs.org)`
  if (!BROUGHT.includes(MACHINE)) return `npm brings none for ${MACHINE}: ${install}.`
  const again = program.pathname.endsWith('.ts')
    ? `Run "npm ci" in ${fileURLToPath(new URL('..', import.meta.url))}`
    : 'Install this package again without --omit=optional'
  return `${again} (it brings Node ${NEEDED} along), or ${install}.`
}

/** A terminal sends its own SIGINT and SIGHUP to both processes: handed on as well, one Ctrl-C would count as two. */
function isSentByTerminal(signal) {
  return signal !== 'SIGTERM' && STREAMS.some((stream) => isatty(stream))
}

/** Runs this launcher again under the given Node, as if it had been started there. */
function runUnder(binary) {
  const self = fileURLToPath(import.meta.url)
  const child = spawn(binary, [self, ...process.argv.slice(2)], { stdio: 'inherit', argv0: LAUNCHED })
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP']
  const handOn = (signal) => {
    if (!isSentByTerminal(signal)) child.kill(signal)
  }
  for (const signal of signals) process.on(signal, handOn)
  child.on('error', (error) => fail(`${binary} does not start: ${error.message}`))
  child.on('exit', (code, signal) => {
    for (const each of signals) process.off(each, handOn)
    if (signal === null) process.exit(code)
    process.exitCode = 128 + constants.signals[signal]
    process.kill(process.pid, signal)
  })
}

/** `npx domaindex` starts a shell that dies of SIGTERM without handing it on. */
function isStartedByNpx() {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env
  return event === 'npx' && /^['"]?domaindex\b/.test(script ?? '')
}

/** When the process that started this one is gone without a word, nobody else would end this one. */
function followParent() {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 100)
  watch.unref()
}

function fail(reason) {
  console.error(`domaindex: ${reason}`)
  process.exit(1)
}

async function launch() {
  const program = findProgram()
  if (program === null) return fail('neither src/main.ts nor dist/src/main.js is there; install the package again')
  if (isStartedByNpx() || process.argv0 === LAUNCHED) followParent()
  if (major(process.versions.node) >= NEEDED) return import(program.href)
  const binary = findOwnNode()
  if (binary !== null) return runUnder(binary)
  fail(`needs Node ${NEEDED} or newer, and this is Node ${process.versions.node}.\n${adviceFor(program)}`)
}

await launch()
