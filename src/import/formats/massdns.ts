/**
 * Reads massdns output (https://github.com/blechschmidt/massdns): full text (-o F), JSON (-o J) and simple text (-o S).
 * It recognizes the form by its lines.
 */

import { domainProblem, objectsIn, parseJsonObject, stringOrEmpty } from '../../observe/json.ts'
import type { DnsAnswer } from '../../probe/probe-result.ts'
import { type DomainName, parseName } from '../../values/domain-name.ts'
import { isObject } from '../../values/json-object.ts'
import { RECORD_TYPES, type RecordType } from '../../values/records/dns-record.ts'
import { parseHostName } from '../../values/records/host-name.ts'
import type { Instant } from '../../values/time.ts'
import { printedRecord, splitJoinedTxt } from './presentation.ts'
import { answerFromMessage, MAX_ENTRY_RECORDS, type PrintedMessage, type PrintedRecord } from './printed-message.ts'
import { type ImportFormat, type LineParser, NO_TIME_PROBLEM, type ParsedLine, type Sighting } from './sighting.ts'

/**
 * The answer to one query. `type`: the queried type, null if it was not printed. `status`: null if it was not printed.
 * `end`: the host at the end of the aliases so far.
 */
type SimpleTextEntry = {
  name: DomainName
  at: Instant
  type: string | null
  status: string | null
  answers: PrintedRecord[]
  lines: Set<string>
  end: string
}

/** With flag r: resolver, time, status, name, class (only with some flags), type. */
const QUERY_META_LINE = /^\S+ (\d{1,11}) ([A-Z0-9]{1,20}) (\S+) (?:[A-Z0-9]{1,20})? ?([A-Z0-9]{1,20})$/

/** With flag q: name, class, type. */
const QUERY_LINE = /^(\S+) (?:IN|CH|HS|ANY)? ?([A-Z0-9]{1,20})$/

/** With flag t, a record has its class and TTL. */
const SIMPLE_RECORD_LINE = /^\t?(\S+) (?:(\S+) \d+ )?([A-Z][A-Z0-9]*) (.*)$/

const NANOSECONDS_PER_SECOND = 1_000_000_000

/** A message as far as it was read. `question`: null before it was read. `section`: the section of the next records. */
type FullTextEntry = {
  at: Instant | null
  status: string
  flags: string[]
  question: { name: DomainName; type: string } | null
  section: string
  answers: PrintedRecord[]
  authorities: string[]
  wasBlank: boolean
}

/** The start of every entry. */
const FULL_TEXT_START = ';; Server: '
const UNIX_TIME_LINE = /^;; Unix time: (\d{1,11})$/
const STATUS_LINE = /^;; ->>HEADER<<- opcode: \w+, status: (\w+),/
const FLAGS_LINE = /^;; flags: ([a-z ]*);/
const SECTION_LINE = /^;; ([A-Z]+) SECTION:$/
const QUESTION_LINE = /^(\S+) (\S+) (\S+)$/
const RECORD_LINE = /^(\S+) (\d+) (\S+) (\S+) (.*)$/

export const massdnsFormat: ImportFormat = (observedAt) => {
  let isFull = false
  let text: LineParser = massdnsSimpleText(observedAt)
  return {
    parseLine(line) {
      if (line.startsWith('{')) return parseMassdnsJson(line, observedAt)
      if (isFull || !line.startsWith(FULL_TEXT_START)) return text.parseLine(line)
      const completed = text.end()
      isFull = true
      text = massdnsFullText(observedAt)
      text.parseLine(line)
      return completed
    },
    end: () => text.end(),
  }
}

/** An entry ends with two empty lines or at the start of the next one. The rest of a rejected entry is skipped. */
function massdnsFullText(observedAt: Instant | null): LineParser {
  let entry: FullTextEntry | 'refused' | null = null
  const finish = (): ParsedLine => {
    const completed = entry === null || entry === 'refused' ? null : sightingsOfEntry(entry)
    entry = null
    return completed
  }
  return {
    parseLine(line) {
      if (line.startsWith(FULL_TEXT_START)) {
        const completed = finish()
        entry = newEntry(observedAt)
        return completed
      }
      const isBlank = line.trim() === ''
      if (entry === 'refused' || (entry === null && isBlank)) return null
      if (entry === null) return `must be in an entry, which begins with ${FULL_TEXT_START}`
      if (isBlank && entry.wasBlank) return finish()
      entry.wasBlank = isBlank
      const problem = isBlank ? null : parseEntryLine(entry, line)
      if (problem !== null) entry = 'refused'
      return problem
    },
    end: finish,
  }
}

function newEntry(at: Instant | null): FullTextEntry {
  return { at, status: '', flags: [], question: null, section: '', answers: [], authorities: [], wasBlank: false }
}

/** Adds one line to an entry. Returns a problem as text. */
function parseEntryLine(entry: FullTextEntry, line: string): string | null {
  if (!line.startsWith(';;'))
    return entry.section === 'QUESTION' ? parseQuestionLine(entry, line) : parseRecordLine(entry, line)
  const [, time] = UNIX_TIME_LINE.exec(line) ?? []
  if (time !== undefined) entry.at = Number(time)
  entry.status = STATUS_LINE.exec(line)?.[1] ?? entry.status
  entry.flags = FLAGS_LINE.exec(line)?.[1]?.split(' ') ?? entry.flags
  entry.section = SECTION_LINE.exec(line)?.[1] ?? entry.section
  return null
}

function parseQuestionLine(entry: FullTextEntry, line: string): string | null {
  const [, domain, , type] = QUESTION_LINE.exec(line) ?? []
  if (domain === undefined || type === undefined) return 'question: must be a name, a class and a type'
  const name = parseName(domain)
  if (name === null) return `question: ${domainProblem(domain)}`
  if (entry.at === null) return NO_TIME_PROBLEM
  entry.question = { name, type }
  return null
}

function parseRecordLine(entry: FullTextEntry, line: string): string | null {
  const [, owner, , kind, type, data] = RECORD_LINE.exec(line) ?? []
  if (owner === undefined || type === undefined || data === undefined)
    return 'record: must be a name, a time to live, a class, a type and data'
  if (entry.answers.length + entry.authorities.length >= MAX_ENTRY_RECORDS)
    return `record: is over the ${MAX_ENTRY_RECORDS}th`
  if (entry.section === 'AUTHORITY') entry.authorities.push(type)
  if (entry.section === 'ANSWER') entry.answers.push(printedRecord(owner, kind === 'IN' ? type : '', data))
  return null
}

/** An entry that ends before its question yields nothing. */
function sightingsOfEntry({ at, question, ...message }: FullTextEntry & PrintedMessage): ParsedLine {
  if (question === null || at === null) return 'question: is missing'
  const type = RECORD_TYPES.find((each) => each === question.type)
  if (type === undefined) return []
  const answer = answerFromMessage(question.name, type, message)
  if (typeof answer === 'string') return `answer: ${answer}`
  return answer === null ? [] : [{ name: question.name, at, kind: 'queried', type, answer }]
}

/**
 * A query that massdns gave up carries no time. Without --observed-at it is skipped, because the line is not at fault.
 */
function parseMassdnsJson(line: string, observedAt: Instant | null): ParsedLine {
  const value = parseJsonObject(line)
  if (typeof value === 'string') return value
  const name = typeof value.name === 'string' ? parseName(value.name) : null
  if (name === null) return `name: ${domainProblem(value.name)}`
  const hasFailed = typeof value.error === 'string'
  const status = hasFailed ? value.error : value.status
  if (typeof status !== 'string') return 'status: must be a text'
  const type = RECORD_TYPES.find((each) => each === value.type)
  if (type === undefined) return typeof value.type === 'string' ? [] : 'type: must be a text'
  const at = value.rx_ts === undefined ? observedAt : parseNanoseconds(value.rx_ts)
  if (at === null && hasFailed) return []
  if (at === null) return value.rx_ts === undefined ? NO_TIME_PROBLEM : 'rx_ts: must be a Unix time in nanoseconds'
  const data = isObject(value.data) ? value.data : {}
  const answer = answerFromMessage(name, type, {
    status,
    answers: objectsIn(data.answers).map(printedFromJson),
    authorities: objectsIn(data.authorities).map((each) => stringOrEmpty(each.type)),
    flags: Array.isArray(value.flags) ? value.flags.map(stringOrEmpty) : null,
  })
  if (typeof answer === 'string') return `data.answers: ${answer}`
  return answer === null ? [] : [{ name, at, kind: 'queried', type, answer }]
}

function parseNanoseconds(value: unknown): Instant | null {
  const seconds = typeof value === 'number' ? Math.floor(value / NANOSECONDS_PER_SECOND) : -1
  return seconds >= 0 && seconds < NANOSECONDS_PER_SECOND * 10 ? seconds : null
}

function printedFromJson(value: Record<string, unknown>): PrintedRecord {
  const type = value.class === 'IN' ? stringOrEmpty(value.type) : ''
  const record = printedRecord(stringOrEmpty(value.name), type, stringOrEmpty(value.data))
  return type === 'TXT' ? { ...record, record: splitJoinedTxt(stringOrEmpty(value.data)) } : record
}

/**
 * Without questions, an answer ends with an empty line or with a record that does not belong to it. Such a record has
 * an owner other than the end of the aliases, or repeats one.
 */
function massdnsSimpleText(observedAt: Instant | null): LineParser {
  let entry: SimpleTextEntry | null = null
  const finish = (next: SimpleTextEntry | null): ParsedLine => {
    const completed = entry === null ? null : sightingsOfSimpleEntry(entry)
    entry = next
    return completed
  }
  return {
    parseLine(line) {
      if (line.trim() === '') return entry?.type === null ? finish(null) : null
      const question = parseQueryLine(line, observedAt)
      if (typeof question === 'string') return question
      if (question !== null) return finish(question)
      const [, owner, kind = 'IN', type, data] = SIMPLE_RECORD_LINE.exec(line) ?? []
      if (owner === undefined || type === undefined || data === undefined) return 'must be a name, a type and data'
      const record = printedRecord(owner, kind === 'IN' ? type : '', data)
      if (entry !== null && belongsToEntry(entry, record, line)) return addRecord(entry, record, line)
      const started = newSimpleEntry(owner, null, null, observedAt)
      if (typeof started === 'string') return started
      addRecord(started, record, line)
      return finish(started)
    },
    end: () => finish(null),
  }
}

/** Returns null if the line is not a question, and a problem as text. */
function parseQueryLine(line: string, observedAt: Instant | null): SimpleTextEntry | string | null {
  const [, time, status = null, domainName, type = null] = QUERY_META_LINE.exec(line) ?? []
  if (domainName !== undefined) return newSimpleEntry(domainName, type, status, Number(time))
  const [, domain, plain = null] = QUERY_LINE.exec(line) ?? []
  return domain === undefined ? null : newSimpleEntry(domain, plain, null, observedAt)
}

function newSimpleEntry(
  domain: string,
  type: string | null,
  status: string | null,
  at: Instant | null,
): SimpleTextEntry | string {
  const name = parseName(domain)
  if (name === null) return domainProblem(domain)
  return at === null ? NO_TIME_PROBLEM : { name, at, type, status, answers: [], lines: new Set(), end: name }
}

function belongsToEntry(entry: SimpleTextEntry, { owner }: PrintedRecord, line: string): boolean {
  return entry.type !== null || (parseHostName(owner) === entry.end && !entry.lines.has(line))
}

function addRecord(entry: SimpleTextEntry, record: PrintedRecord, line: string): string | null {
  if (entry.answers.length >= MAX_ENTRY_RECORDS) return `is over the ${MAX_ENTRY_RECORDS}th record of ${entry.name}`
  entry.answers.push(record)
  if (entry.type !== null) return null
  entry.lines.add(line)
  if (record.type === 'CNAME' && typeof record.record === 'string')
    entry.end = parseHostName(record.record) ?? entry.end
  return null
}

/** A query without a status and without records had an unknown outcome. */
function sightingsOfSimpleEntry({ name, at, type, status, answers }: SimpleTextEntry): ParsedLine {
  if (status === null && answers.length === 0) return []
  const sightings: Sighting[] = []
  for (const queryType of type === null ? answeredTypes(answers) : RECORD_TYPES.filter((each) => each === type)) {
    const answer: DnsAnswer | string | null = answerFromMessage(name, queryType, {
      status: status ?? 'NOERROR',
      answers,
      authorities: [],
      flags: null,
    })
    if (typeof answer === 'string') return answer
    if (answer !== null) sightings.push({ name, at, kind: 'queried', type: queryType, answer })
  }
  return sightings
}

/** Returns the types that were found, or the alias type if nothing else was. */
function answeredTypes(answers: readonly PrintedRecord[]): RecordType[] {
  const types = RECORD_TYPES.filter((type) => answers.some((each) => each.type === type))
  return types.length > 1 ? types.filter((type) => type !== 'CNAME') : types
}
