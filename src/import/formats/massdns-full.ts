/** Reads the full text of massdns (-o F): messages as dig prints them, each after its server and time. */

import { domainProblem } from '../../observe/json.ts'
import { type DomainName, parseName } from '../../values/domain-name.ts'
import { RECORD_TYPES } from '../../values/records/dns-record.ts'
import type { Instant } from '../../values/time.ts'
import { printedRecord } from './presentation.ts'
import { answerFromMessage, MAX_ENTRY_RECORDS, type PrintedMessage, type PrintedRecord } from './printed-message.ts'
import { type LineParser, NO_TIME_PROBLEM, type ParsedLine } from './sighting.ts'

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
export const FULL_TEXT_START = ';; Server: '
const UNIX_TIME_LINE = /^;; Unix time: (\d{1,11})$/
const STATUS_LINE = /^;; ->>HEADER<<- opcode: \w+, status: (\w+),/
const FLAGS_LINE = /^;; flags: ([a-z ]*);/
const SECTION_LINE = /^;; ([A-Z]+) SECTION:$/
const QUESTION_LINE = /^(\S+) (\S+) (\S+)$/
const RECORD_LINE = /^(\S+) (\d+) (\S+) (\S+) (.*)$/

/** An entry ends with two empty lines or at the start of the next one. The rest of a rejected entry is skipped. */
export function massdnsFullText(observedAt: Instant | null): LineParser {
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
