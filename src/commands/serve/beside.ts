/** A process beside the workers of `serve`: started again when it dies or falls silent, and ended in order. */

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { BEAT, isHeartbeat, Silences } from './heartbeat.ts'
import type { CrawlCommand, IndexCommand, NightCommand } from './messages.ts'

type AnyCommand = CrawlCommand | IndexCommand | NightCommand

export type Beside = {
  /** Resolves when it has ended. */
  end(): Promise<void>
}

/** What it is called, where its program lies, and what it is told at first and at the end. */
type Program<Command> = { name: string; file: URL; begin: Command; stop: Command }

/** Milliseconds until one that died is started again, at first and at most; one that lived so long begins anew. */
const AGAIN = 1_000
const AGAIN_MOST = 60_000
const LONG = 300_000
/** Milliseconds after which one that does not end is killed. */
const PATIENCE = 40_000
/** Milliseconds of silence after which one is killed: its event loop may stand still for a long statement of SQLite. */
const SILENCE = 300_000

export function startBeside<Command extends AnyCommand>(
  { name, file, begin, stop }: Program<Command>,
  log: Logger,
): Beside {
  let child: ChildProcess | null = null
  let timer: NodeJS.Timeout | undefined
  let isEnding = false
  const silences = new Silences<ChildProcess>(SILENCE)
  const watch = setInterval(() => killSilent(silences, name, log), BEAT).unref()
  let again = AGAIN
  const start = (): void => {
    const born = performance.now()
    const started = fork(fileURLToPath(file))
    child = started
    started.on('message', (message) => isHeartbeat(message) && silences.hear(started))
    started.once('error', (err) => log.error({ err }, `the ${name} cannot be started`))
    send(started, begin)
    started.once('close', (code, signal) => {
      child = null
      silences.forget(started)
      if (isEnding) return
      if (performance.now() - born > LONG) again = AGAIN
      log.error({ reason: signal ?? code, seconds: again / 1000 }, `the ${name} died and is started again`)
      timer = setTimeout(start, again)
      again = Math.min(2 * again, AGAIN_MOST)
    })
  }
  start()
  return {
    async end() {
      isEnding = true
      clearTimeout(timer)
      clearInterval(watch)
      if (child !== null) await ended(child, stop)
    },
  }
}

function killSilent(silences: Silences<ChildProcess>, name: string, log: Logger): void {
  for (const child of silences.look()) {
    log.error({ silent: child.pid, seconds: SILENCE / 1_000 }, `the ${name} is silent and is killed`)
    child.kill('SIGKILL')
  }
}

async function ended(child: ChildProcess, stop: AnyCommand): Promise<void> {
  const closed = new Promise((resolve) => child.once('close', resolve))
  send(child, stop)
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE)
  await closed
  clearTimeout(timer)
}

/** One that died meanwhile hears nothing: its end is heard of instead. */
function send(child: ChildProcess, command: AnyCommand): void {
  child.send(command, () => {})
}
