/** A worker of `serve`: a process that answers requests, as its primary says. */

import type { Socket } from 'node:net'
import { collectDefaultMetrics } from 'prom-client'
import { type Api, buildApi } from '../../api/api.ts'
import { Metrics } from '../../api/metrics.ts'
import { openShelfFolder } from '../../nightly/shelf-folder.ts'
import { openRetrieval } from '../../retrieval/retrieval.ts'
import { StoreFault } from '../../store/fault.ts'
import { openStore } from '../../store/open.ts'
import type { Store } from '../../store/store.ts'
import { CLOCK } from '../clock.ts'
import { closeConnections } from './drain.ts'
import { sendHeartbeats } from './heartbeat.ts'
import { type Log, openLog } from './log.ts'
import { isCommand, type Order, type Report } from './messages.ts'
import { feelPulse, type Pulse } from './pulse.ts'

/** Milliseconds for which a call waits for a store that says nothing. */
const SILENCE = 10_000
/** Milliseconds for which the numbers of closed connections are gathered. */
const GATHERED = 50

type Running = {
  api: Api
  pulse: Pulse
  store: Store
  output: Log
  metrics: Metrics
  /** Whether every worker of the crew serves. */
  isWhole: boolean
  ending: AbortController
  /** Numbers of connections that were closed, until the primary is told. */
  closed: number[]
}

let running: Running | null = null

/** The primary ends its workers: a signal to the whole group must not make them end before their time. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})

process.on('message', (message, handle) => {
  if (!isCommand(message)) return
  if (message.do === 'serve') void serve(message.order)
  else if (running === null) process.exit(0)
  else if (message.do === 'take') take(running, message, handle as Socket | undefined)
  else if (message.do === 'measure') void measure(running)
  else if (message.do === 'heed') heed(running, message.isWhole)
  else void (message.do === 'stop' ? stop(running) : drain(running))
})

async function serve({ settings, limits, demo }: Order): Promise<void> {
  const output = openLog(settings.logLevel)
  const { log, flush } = output
  const fail = (error: unknown): void => {
    log.fatal({ err: error }, 'a worker ends')
    flush()
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  try {
    const { store: url, secret, pool } = settings
    const store = await openStore(url, { access: 'read', ledger: 'primary', secret, pool, silence: SILENCE, demo })
    const pulse = await feelPulse(store, (hindrance) => tellHindrance(log, hindrance))
    const metrics = makeMetrics(pulse)
    const retrieval = openRetrieval(store)
    const api = await buildApi({
      store,
      retrieval,
      shelf: openShelfFolder(settings.files),
      settings,
      limits,
      now: pulse.now,
      isReady: () => pulse.isFelt() && running?.isWhole === true,
      log,
      metrics,
      asked: settings.crawlAsked === 0 ? null : { wishes: store.wishes, most: settings.crawlAsked },
    })
    const ending = new AbortController()
    void retrieval.watch(CLOCK, ending.signal)
    running = { api, pulse, store, output, metrics, isWhole: false, ending, closed: [] }
    sendHeartbeats(pulse.isFelt)
    report({ to: 'primary', is: 'listening' })
  } catch (error) {
    reportFailure(error as NodeJS.ErrnoException, output)
  }
}

/** Tells the primary why this worker cannot serve. */
function reportFailure(error: NodeJS.ErrnoException, { log, flush }: Log): void {
  const { message, code, syscall } = error
  if (syscall === undefined && !(error instanceof StoreFault)) log.error({ err: error }, 'a worker cannot serve')
  flush()
  report({ to: 'primary', is: 'failed', message, code: code ?? null })
}

function tellHindrance(log: Log['log'], hindrance: unknown): void {
  if (hindrance === null) log.warn('the store gives again what calls ask of it')
  else if (hindrance instanceof StoreFault) log.error(`not ready: ${hindrance.message}`)
  else log.error({ err: hindrance }, 'not ready: the store does not give what calls ask of it')
}

function makeMetrics({ isFelt }: Pulse): Metrics {
  const metrics = new Metrics()
  metrics.gauge('domaindex_workers_ready', 'Processes whose store answers.', () => Number(isFelt()))
  collectDefaultMetrics({ register: metrics.registry })
  return metrics
}

async function measure({ metrics }: Running): Promise<void> {
  report({ to: 'primary', is: 'measured', measured: await metrics.registry.getMetricsAsJSON() })
}

function heed(running: Running, isWhole: boolean): void {
  running.isWhole = isWhole
  report({ to: 'primary', is: 'heeded' })
}

/** There is no socket if its client was gone before it came here. */
function take(running: Running, { number, waited }: { number: number; waited: number }, socket?: Socket): void {
  const close = (): void => {
    if (running.closed.push(number) > 1) return
    setTimeout(() => report({ to: 'primary', is: 'closed', numbers: running.closed.splice(0) }), GATHERED).unref()
  }
  report({ to: 'primary', is: 'taken' })
  if (socket === undefined) close()
  else running.api.front.adopt(socket.once('close', close), waited)
}

function stop(running: Running): void {
  running.api.drain()
  report({ to: 'primary', is: 'stopped' })
}

async function drain({ api, pulse, store, output, ending }: Running): Promise<void> {
  ending.abort()
  await closeConnections(api.front)
  await api.app.close()
  pulse.close()
  await store.close()
  output.flush()
  process.exit(0)
}

function report(message: Report): void {
  process.send?.(message)
}
