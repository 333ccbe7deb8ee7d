/**
 * `npm run bench:page`: opens pages of the demo in a browser as slow as a phone (a quarter of the processor, 1.6 Mbit/s,
 * 150 ms per request, empty cache), and measures bytes and milliseconds until the page can be used.
 */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { SHOWCASE_DOMAIN } from '../lab/lab.ts'
import { buildPageBundle } from '../src/api/page/bundle.ts'
import { startChromium } from '../test/web/browser/chromium.ts'
import { readOptions } from './measure/options.ts'
import { domaindexCommand, makeTemporaryFolder, startProcess, stopProcess, waitForOutput } from './measure/process.ts'
import { type Metric, metricWithMax, report } from './measure/report.ts'

const MAX_FIRST_LOAD_BYTES = 150_000
const MAX_INTERACTIVE_MS = 1_000
const MAX_BUNDLE_MS = 3_000
/** Slow 4G of Chromium's developer tools: bytes per second and milliseconds. */
const SLOW_4G = { offline: false, downloadThroughput: 200_000, uploadThroughput: 93_750, latency: 150 }
const CPU_SLOWDOWN = 4
const DEMO_START_SECONDS = 240

/** The measured pages, and what is there once they can be used. */
const PAGES = [
  { name: 'start page, signed out', path: '/', ready: 'main input[name=query]', signedIn: false },
  { name: 'start page', path: '/', ready: '.home-cost strong', signedIn: true },
  { name: 'domain', path: `/domain/${SHOWCASE_DOMAIN}`, ready: '.records .record', signedIn: true },
  { name: 'DNS history', path: `/domain/${SHOWCASE_DOMAIN}/history`, ready: '.bar', signedIn: true },
  { name: 'tokens', path: '/account/tokens', ready: '.empty, .token-name', signedIn: true },
  { name: 'API reference', path: '/docs', ready: '.endpoint', signedIn: false },
] as const

/** More than a slow visit takes. */
const VISIT_TIMEOUT_MS = 30_000

/**
 * Records when the element appears and when the last long task ends. It runs before the page, and calls the bench when
 * the element is there: to look for it again and again would take the throttled processor from the page.
 */
const observerOf = (ready: string) => `
  window.measured = { readyAt: 0, busyUntil: 0 }
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) measured.busyUntil = startTime + duration
  }).observe({ type: 'longtask', buffered: true })
  new MutationObserver(() => {
    if (measured.readyAt !== 0 || !document.querySelector(${JSON.stringify(ready)})) return
    measured.readyAt = performance.now()
    reportReady('')
  }).observe(document, { childList: true, subtree: true })`

type Visit = { bytes: number; interactiveMs: number; paintMs: number }

const options = readOptions(505, 0, 5)
const folder = makeTemporaryFolder()
const demo = startProcess([...domaindexCommand('demo'), '--port', '0', '--folder', join(folder, 'demo')])
let browser: Browser | null = null
try {
  const bundleMs = await measureBundle()
  const [link] = await waitForOutput(demo, /http:\S+\/sign-in#code=\S+/, DEMO_START_SECONDS)
  browser = await startChromium()
  const cookies = await signIn(browser, link)
  const visits = await visitPages(browser, new URL(link).origin, cookies)
  report('page', metricsOf(visits, bundleMs), notes(), visits)
} finally {
  await browser?.close()
  await stopProcess(demo)
  await rm(folder, { recursive: true, force: true })
}

function notes(): string[] {
  return [
    `Median of ${options.rounds} visits. Interactive: the data is shown, and no long task runs any more.`,
    `Throttled by the protocol of Chromium: processor ${CPU_SLOWDOWN}x, 1.6 Mbit/s, 150 ms per request, no cache.`,
  ]
}

/** Milliseconds that a checkout needs once, at the first start after its sources have changed. */
async function measureBundle(): Promise<number> {
  const start = performance.now()
  await buildPageBundle(join(folder, 'web'))
  return performance.now() - start
}

async function signIn(chromium: Browser, link: string) {
  const context = await chromium.newContext()
  const page = await context.newPage()
  await page.goto(link)
  await page.locator('.calls-left, .account-link').first().waitFor()
  const cookies = await context.cookies()
  await context.close()
  return cookies
}

type Cookies = Awaited<ReturnType<typeof signIn>>

async function visitPages(chromium: Browser, origin: string, cookies: Cookies): Promise<Record<string, Visit[]>> {
  const visits: Record<string, Visit[]> = {}
  for (let round = 0; round < options.rounds; round++) {
    for (const { name, path, ready, signedIn } of PAGES) {
      const context = await chromium.newContext({ baseURL: origin, viewport: { width: 390, height: 844 } })
      if (signedIn) await context.addCookies(cookies)
      const visit = await measureVisit(await context.newPage(), path, ready)
      visits[name] = [...(visits[name] ?? []), visit]
      await context.close()
    }
  }
  return visits
}

async function measureVisit(page: Page, path: string, ready: string): Promise<Visit> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await session.send('Network.emulateNetworkConditions', SLOW_4G)
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN })
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await session.send('Runtime.enable')
  await session.send('Runtime.addBinding', { name: 'reportReady' })
  const isReady = new Promise((resolve) => session.on('Runtime.bindingCalled', resolve))
  await page.addInitScript(observerOf(ready))
  await page.goto(path)
  await Promise.race([isReady, rejectLate(`${path} shows no ${ready}`)])
  await page.waitForLoadState('networkidle')
  const { readyAt, busyUntil, paintMs } = await page.evaluate<{ readyAt: number; busyUntil: number; paintMs: number }>(
    `({ ...measured, paintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0 })`,
  )
  return { bytes, interactiveMs: Math.max(readyAt, busyUntil), paintMs }
}

async function rejectLate(what: string): Promise<never> {
  await setTimeout(VISIT_TIMEOUT_MS, undefined, { ref: false })
  throw new Error(`${what} within ${VISIT_TIMEOUT_MS / 1_000} s`)
}

function metricsOf(visits: Record<string, Visit[]>, bundleMs: number): Metric[] {
  const median = (values: number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1]!
  return [
    metricWithMax('bundle, once in a checkout', Math.round(bundleMs), 'ms', MAX_BUNDLE_MS),
    ...Object.entries(visits).flatMap(([name, each]) => [
      metricWithMax(`${name}, loaded`, median(each.map(({ bytes }) => bytes)), 'bytes', MAX_FIRST_LOAD_BYTES),
      metricWithMax(
        `${name}, first paint`,
        Math.round(median(each.map(({ paintMs }) => paintMs))),
        'ms',
        MAX_INTERACTIVE_MS,
      ),
      metricWithMax(
        `${name}, interactive`,
        Math.round(median(each.map(({ interactiveMs }) => interactiveMs))),
        'ms',
        MAX_INTERACTIVE_MS,
      ),
    ]),
  ]
}
