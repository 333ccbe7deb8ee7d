/** Supervises a child process of `serve`: restarts it if it dies or sends no heartbeat, and stops it. */

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { HEARTBEAT_MS, HeartbeatMonitor, isHeartbeat } from './heartbeat.ts'
import type { CrawlCommand, IndexCommand, JobsCommand } from './messages.ts'

type ChildCommand = CrawlCommand | IndexCommand | JobsCommand

export type SupervisedChild = {
  /** Resolves when it has ended. */
  stop(): Promise<void>
}

/** The name, the main file, and the commands that start and stop a child process. */
type ChildProgram<Command> = { name: string; file: URL; startCommand: Command; stopCommand: Command }

/** Milliseconds until a process that died is restarted. The delay doubles each time, up to the maximum. */
const CHILD_RESTART_DELAY_MS = 1_000
const MAX_CHILD_RESTART_DELAY_MS = 60_000
/** Milliseconds after which the delay of a running process is reset. */
const CHILD_STABLE_MS = 300_000
/** Milliseconds after which a process that does not stop is killed. */
const CHILD_STOP_TIMEOUT_MS = 40_000
/** Milliseconds without a heartbeat until a process is killed. A long SQLite statement may block its event loop. */
const CHILD_HEARTBEAT_TIMEOUT_MS = 300_000

export function superviseChild<Command extends ChildCommand>(
  { name, file, startCommand, stopCommand }: ChildProgram<Command>,
  log: Logger,
): SupervisedChild {
  let child: ChildProcess | null = null
  let timer: NodeJS.Timeout | undefined
  let isEnding = false
  const heartbeats = new HeartbeatMonitor<ChildProcess>(CHILD_HEARTBEAT_TIMEOUT_MS)
  const heartbeatTimer = setInterval(() => killUnresponsive(heartbeats, name, log), HEARTBEAT_MS).unref()
  let restartDelay = CHILD_RESTART_DELAY_MS
  const start = (): void => {
    const startedAt = performance.now()
    const started = fork(fileURLToPath(file))
    child = started
    started.on('message', (message) => isHeartbeat(message) && heartbeats.heartbeat(started))
    started.once('error', (err) => log.error({ process: name, err }, 'cannot start child process'))
    sendToChild(started, startCommand)
    started.once('close', (code, signal) => {
      child = null
      heartbeats.forget(started)
      if (isEnding) return
      if (performance.now() - startedAt > CHILD_STABLE_MS) restartDelay = CHILD_RESTART_DELAY_MS
      log.error(
        { process: name, reason: signal ?? code, seconds: restartDelay / 1000 },
        'child process died, restarting it',
      )
      timer = setTimeout(start, restartDelay)
      restartDelay = Math.min(2 * restartDelay, MAX_CHILD_RESTART_DELAY_MS)
    })
  }
  start()
  return {
    async stop() {
      isEnding = true
      clearTimeout(timer)
      clearInterval(heartbeatTimer)
      if (child !== null) await stopChild(child, stopCommand)
    },
  }
}

function killUnresponsive(heartbeats: HeartbeatMonitor<ChildProcess>, name: string, log: Logger): void {
  for (const child of heartbeats.check()) {
    log.error(
      { process: name, childPid: child.pid, seconds: CHILD_HEARTBEAT_TIMEOUT_MS / 1_000 },
      'child process heartbeat timed out, killing it',
    )
    child.kill('SIGKILL')
  }
}

async function stopChild(child: ChildProcess, stopCommand: ChildCommand): Promise<void> {
  const closed = new Promise((resolve) => child.once('close', resolve))
  sendToChild(child, stopCommand)
  const timer = setTimeout(() => child.kill('SIGKILL'), CHILD_STOP_TIMEOUT_MS)
  await closed
  clearTimeout(timer)
}

/** Ignores that the process may have died. Its `close` event follows. */
function sendToChild(child: ChildProcess, command: ChildCommand): void {
  child.send(command, () => {})
}
