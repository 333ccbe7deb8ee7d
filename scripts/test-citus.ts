/**
 * Runs the tests on a cluster of PostgreSQL with Citus: starts its containers, runs `npm test` with the arguments, and
 * removes the containers. Needs Docker with compose.
 */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const FILE = fileURLToPath(new URL('../deploy/compose/citus.yaml', import.meta.url))
/** Seconds until the cluster must be up. The first start also downloads the image. */
const START_TIMEOUT_SECONDS = 600

/** Runs a command of Docker compose and returns what it prints. Throws if it fails. */
function compose(...args: string[]): string {
  const { error, status, stdout } = spawnSync('docker', ['compose', '--file', FILE, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error !== undefined) throw new Error(`docker cannot be run (${error.message}): install Docker with compose`)
  if (status !== 0) throw new Error(`docker compose ${args[0]} failed`)
  return stdout.trim()
}

/** Ctrl-C reaches the tests too. This process goes on, so that it removes the containers. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
try {
  compose(
    'up',
    '--detach',
    '--wait',
    '--wait-timeout',
    String(START_TIMEOUT_SECONDS),
    'coordinator',
    'worker-1',
    'worker-2',
  )
  compose('run', '--rm', 'workers')
  const address = compose('port', 'coordinator', '5432')
  const env = { ...process.env, DOMAINDEX_TEST_POSTGRES: `postgres://domaindex@${address}/domaindex` }
  const { status } = spawnSync('npm', ['test', '--', ...process.argv.slice(2)], { env, stdio: 'inherit' })
  process.exitCode = status ?? 1
} finally {
  compose('down', '--volumes')
}
