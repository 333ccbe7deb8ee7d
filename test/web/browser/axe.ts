/** Accessibility checks by axe-core. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

type AxeResult = { violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] }

/** What axe finds on a page that is serious or critical, one line for each element. */
export async function seriousProblems(page: Page): Promise<string[]> {
  // The policy of the page allows no other code, so axe is evaluated by the protocol of the browser.
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(options: object): Promise<AxeResult> } }).axe.run({
      resultTypes: ['violations'],
      preload: false, // style sheets are for rules that are off
    }),
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`))
}
