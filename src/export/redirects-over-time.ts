/** Which websites redirected to a domain, at a moment or in a time. */

import type { InverseReader, RedirectSpan, RedirectSpanPage } from '../store/port/inverse.ts'
import type { FactsReader } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { Instant } from '../values/time.ts'
import { finalHostOf } from '../values/web-verdict.ts'
import { readSpanPage, type TimeQuestion } from './span-page.ts'

/** Reads a page of the redirects to a domain and to hosts below it, in the order of host, name and time. */
export function readRedirectPage(
  { facts, inverse }: { facts: FactsReader; inverse: InverseReader },
  target: DomainName,
  question: TimeQuestion,
  after: Uint8Array | null,
  limit: number,
): Promise<RedirectSpanPage> {
  const source = {
    read: (...page: ParametersAfterTarget) => inverse.redirects(target, ...page),
    wasNewest: (span: RedirectSpan, moment: Instant) => wasNewest(facts, span, moment),
  }
  return readSpanPage(source, question, after, limit)
}

type ParametersAfterTarget = Parameters<InverseReader['redirects']> extends [unknown, ...infer Rest] ? Rest : never

/** Whether the newest state of the website by a moment is one of a span that ended before. */
async function wasNewest(facts: FactsReader, { host, name, first, last }: RedirectSpan, moment: Instant) {
  const [state] = (await facts.webHistory(name, moment + 1, 1)).states
  if (state === undefined || finalHostOf(state.verdict) !== host) return false
  return state.first_seen >= first && state.first_seen <= last
}
