/** Faulty resolvers of the lab: they do not answer, deny existing names, or make up answers. */

import { crc32 } from 'node:zlib'
import type { AnswerOverride } from './dns.ts'
import type { DnsHost } from './dns-table.ts'

/** Gives the same answer for every host. `answerAlways('silent')` is a resolver that has failed. */
export const answerAlways =
  (answer: DnsHost): AnswerOverride =>
  () =>
    answer

/** Gives the same answer for a fixed share of all hosts, 0 to 1. */
export const answerShare =
  (share: number, answer: DnsHost): AnswerOverride =>
  (host) =>
    crc32(host) < share * 2 ** 32 ? answer : undefined
