/** Simple text of massdns (-o S): records a line, and with its flags q and r the question in front of them. */

import type { Answer } from '../../crawl/visit.ts'
import { type Name, parseName } from '../../words/name.ts'
import { parseHost, RECORD_TYPES, type RecordType } from '../../words/record.ts'
import type { Instant } from '../../words/time.ts'
import { whyNotDomain } from '../json.ts'
import { answerOf, type Printed } from './message.ts'
import { printedRecord } from './presentation.ts'
import { type LineReader, NO_TIME, type Sighting, type Taken } from './sighting.ts'

/**
 * The answer to one question. `type`: the one that was asked, null where that was not printed. `status`: null where it was
 * not. `end`: the host at which the aliases have arrived.
 */
type Entry = {
  name: Name
  at: Instant
  type: string | null
  status: string | null
  answers: Printed[]
  lines: Set<string>
  end: string
}

/** With the flag r: resolver, time, status, name, class (not with every choice of flags), type. */
const META = /^\S+ (\d{1,11}) ([A-Z0-9]{1,20}) (\S+) (?:[A-Z0-9]{1,20})? ?([A-Z0-9]{1,20})$/
/** With the flag q: name, class, type. */
const QUESTION = /^(\S+) (?:IN|CH|HS|ANY)? ?([A-Z0-9]{1,20})$/
/** With the flag t it has class and time to live. */
const RECORD = /^\t?(\S+) (?:(\S+) \d+ )?([A-Z][A-Z0-9]*) (.*)$/
const MOST_RECORDS = 2000

/**
 * Without questions an answer ends with an empty line, or with a record that cannot be of it: its owner is not where the
 * aliases have arrived, or it is there already.
 */
export function simpleText(observedAt: Instant | null): LineReader {
  let entry: Entry | null = null
  const finish = (next: Entry | null): Taken => {
    const made = entry === null ? null : sightingsOf(entry)
    entry = next
    return made
  }
  return {
    take(line) {
      if (line.trim() === '') return entry?.type === null ? finish(null) : null
      const question = readQuestion(line, observedAt)
      if (typeof question === 'string') return question
      if (question !== null) return finish(question)
      const [, owner, kind = 'IN', type, data] = RECORD.exec(line) ?? []
      if (owner === undefined || type === undefined || data === undefined) return 'must be a name, a type and data'
      const record = printedRecord(owner, kind === 'IN' ? type : '', data)
      if (entry !== null && belongs(entry, record, line)) return add(entry, record, line)
      const begun = begin(owner, null, null, observedAt)
      if (typeof begun === 'string') return begun
      add(begun, record, line)
      return finish(begun)
    },
    end: () => finish(null),
  }
}

/** Null where the line is no question; a text: what is wrong with it. */
function readQuestion(line: string, observedAt: Instant | null): Entry | string | null {
  const [, time, status = null, asked, type = null] = META.exec(line) ?? []
  if (asked !== undefined) return begin(asked, type, status, Number(time))
  const [, domain, plain = null] = QUESTION.exec(line) ?? []
  return domain === undefined ? null : begin(domain, plain, null, observedAt)
}

function begin(domain: string, type: string | null, status: string | null, at: Instant | null): Entry | string {
  const name = parseName(domain)
  if (name === null) return whyNotDomain(domain)
  return at === null ? NO_TIME : { name, at, type, status, answers: [], lines: new Set(), end: name }
}

function belongs(entry: Entry, { owner }: Printed, line: string): boolean {
  return entry.type !== null || (parseHost(owner) === entry.end && !entry.lines.has(line))
}

function add(entry: Entry, record: Printed, line: string): string | null {
  if (entry.answers.length >= MOST_RECORDS) return `is over the ${MOST_RECORDS}th record of ${entry.name}`
  entry.answers.push(record)
  if (entry.type !== null) return null
  entry.lines.add(line)
  if (record.type === 'CNAME' && typeof record.record === 'string') entry.end = parseHost(record.record) ?? entry.end
  return null
}

/** A question whose status was not printed, and that has no records, was answered in a way that nobody knows. */
function sightingsOf({ name, at, type, status, answers }: Entry): Taken {
  if (status === null && answers.length === 0) return []
  const sightings: Sighting[] = []
  for (const asked of type === null ? typesOf(answers) : RECORD_TYPES.filter((each) => each === type)) {
    const answer: Answer | string | null = answerOf(name, asked, {
      status: status ?? 'NOERROR',
      answers,
      authorities: [],
      flags: null,
    })
    if (typeof answer === 'string') return answer
    if (answer !== null) sightings.push({ name, at, kind: 'asked', type: asked, answer })
  }
  return sightings
}

/** The types that were found; the alias alone only where nothing else was. */
function typesOf(answers: readonly Printed[]): RecordType[] {
  const types = RECORD_TYPES.filter((type) => answers.some((each) => each.type === type))
  return types.length > 1 ? types.filter((type) => type !== 'CNAME') : types
}
