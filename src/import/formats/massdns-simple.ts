/** Reads the simple text of massdns (-o S): one record per line and, with the flags q and r, the question first. */

import { domainProblem } from '../../observe/json.ts'
import type { DnsAnswer } from '../../probe/probe-result.ts'
import { type DomainName, parseName } from '../../values/domain-name.ts'
import { RECORD_TYPES, type RecordType } from '../../values/records/dns-record.ts'
import { parseHostName } from '../../values/records/host-name.ts'
import type { Instant } from '../../values/time.ts'
import { printedRecord } from './presentation.ts'
import { answerFromMessage, MAX_ENTRY_RECORDS, type PrintedRecord } from './printed-message.ts'
import { type LineParser, NO_TIME_PROBLEM, type ParsedLine, type Sighting } from './sighting.ts'

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

/**
 * Without questions, an answer ends with an empty line or with a record that does not belong to it. Such a record has
 * an owner other than the end of the aliases, or repeats one.
 */
export function massdnsSimpleText(observedAt: Instant | null): LineParser {
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
