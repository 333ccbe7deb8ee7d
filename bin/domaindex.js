#!/usr/bin/env node
// The launcher: runs src/main.ts (dist/src/main.js in the published package) on Node 24 or newer.
// If the running Node is older, it uses the Node that npm installed with the package.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'

const NEEDED = 24
const MACHINE = `${process.platform}-${process.arch}`
/** The machines for which the package has a Node among its optional dependencies. */
const MACHINES_WITH_NODE = ['linux-x64', 'linux-arm64', 'darwin-x64']
/** The packages that contain a Node for this machine, without an install script. */
const PACKAGES = [`node-${MACHINE}`, `node-bin-${MACHINE}`, 'node']
/**
 * The file descriptors of standard input, output and error. The launcher does not use process.stdin and the like,
 * because they change the mode of a pipe so that reads of the program fail.
 */
const STREAMS = [0, 1, 2]
/** The argv[0] with which the launcher restarts itself. */
const LAUNCHED = 'domaindex'

const major = (version) => Number.parseInt(version, 10)

/** URL of the program: the source in a checkout, compiled code in the published package. Null if there is neither. */
function findProgram() {
  const candidates = ['../src/main.ts', '../dist/src/main.js'].map((path) => new URL(path, import.meta.url))
  return candidates.find((candidate) => existsSync(candidate)) ?? null
}

/** Path of the Node that npm installed for this package; null if there is none that is new enough. */
function findOwnNode() {
  for (const name of PACKAGES) {
    try {
      const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
      const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
      if (major(JSON.parse(readFileSync(manifest, 'utf8')).version) >= NEEDED && existsSync(binary)) return binary
    } catch {} // not installed
  }
  return null
}

/** Advice for a machine without a Node that is new enough. */
function adviceFor(program) {
  const install = `install Node ${NEEDED} or newer (https://nodejs.org)`
  if (!MACHINES_WITH_NODE.includes(MACHINE)) return `npm provides no Node for ${MACHINE}: ${install}.`
  const reinstall = program.pathname.endsWith('.ts')
    ? `Run "npm ci" in ${fileURLToPath(new URL('..', import.meta.url))}`
    : 'Reinstall this package without --omit=optional'
  return `${reinstall} (it includes Node ${NEEDED}), or ${install}.`
}

/** A terminal sends SIGINT and SIGHUP to both processes. If the launcher forwarded them, Ctrl-C would count twice. */
function isSentByTerminal(signal) {
  return signal !== 'SIGTERM' && STREAMS.some((stream) => isatty(stream))
}

/** Restarts this launcher under the given Node, and ends with its exit code or signal. */
function runUnder(binary) {
  const self = fileURLToPath(import.meta.url)
  const child = spawn(binary, [self, ...process.argv.slice(2)], { stdio: 'inherit', argv0: LAUNCHED })
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP']
  const forward = (signal) => {
    if (!isSentByTerminal(signal)) child.kill(signal)
  }
  for (const signal of signals) process.on(signal, forward)
  child.on('error', (error) => fail(`${binary} does not start: ${error.message}`))
  child.on('exit', (code, signal) => {
    for (const each of signals) process.off(each, forward)
    if (signal === null) process.exit(code)
    process.exitCode = 128 + constants.signals[signal]
    process.kill(process.pid, signal)
  })
}

/** `npx domaindex` starts a shell that SIGTERM ends, and that does not forward the signal. */
function isStartedByNpx() {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env
  return event === 'npx' && /^['"]?domaindex\b/.test(script ?? '')
}

/** Ends this process if its parent is gone, because the parent may end without sending a signal. */
function followParent() {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 100)
  timer.unref()
}

function fail(reason) {
  console.error(`domaindex: ${reason}`)
  process.exit(1)
}

/**
 * Keeps compiled code for the next start, also that of child processes. The folder belongs to this package, because in
 * a folder for temporary files other users could replace the code. Without the right to write there, nothing is kept.
 */
function keepCompiledCode() {
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))
  module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE)
}

async function launch() {
  const program = findProgram()
  if (program === null) return fail('neither src/main.ts nor dist/src/main.js exists; reinstall the package')
  if (isStartedByNpx() || process.argv0 === LAUNCHED) followParent()
  keepCompiledCode()
  if (major(process.versions.node) >= NEEDED) return import(program.href)
  const binary = findOwnNode()
  if (binary !== null) return runUnder(binary)
  fail(`needs Node ${NEEDED} or newer, and this is Node ${process.versions.node}.\n${adviceFor(program)}`)
}

await launch()
