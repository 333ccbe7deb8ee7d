/** How a resolver of the lab goes wrong: it dies, denies what is there, or makes things up. */

import { crc32 } from 'node:zlib'
import type { AnswerOverride } from './dns.ts'
import type { DnsHost } from './dns-table.ts'

/** The same of every host: `always('silent')` is a resolver that has died. */
export const answerAlways =
  (answer: DnsHost): AnswerOverride =>
  () =>
    answer

/** The same of a share of all hosts, 0 to 1, always the same ones. */
export const answerShare =
  (share: number, answer: DnsHost): AnswerOverride =>
  (host) =>
    crc32(host) < share * 2 ** 32 ? answer : undefined
