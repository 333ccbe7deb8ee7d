/** The layout of a page: every text lies within its boxes, and no text lies on another. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const TEXT_BOXES = readFileSync(join(import.meta.dirname, 'text-boxes.js'), 'utf8')

type TextBoxes = { count: number; problems: string[] }

/** Texts of a page that overlap, stick out or are cut off, one line for each. */
export async function layoutProblems(page: Page): Promise<string[]> {
  const { count, problems } = await page.evaluate<TextBoxes>(TEXT_BOXES)
  assert.ok(count > 5, `${page.url()} shows ${count} texts`)
  return problems
}
