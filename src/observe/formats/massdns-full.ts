/** Full text of massdns (-o F): messages as dig prints them, each behind the server that sent it and the time. */

import { type Name, parseName } from '../../words/name.ts'
import { RECORD_TYPES } from '../../words/record.ts'
import type { Instant } from '../../words/time.ts'
import { whyNotDomain } from '../json.ts'
import { answerOf, type Message, type Printed } from './message.ts'
import { printedRecord } from './presentation.ts'
import { type LineReader, NO_TIME, type Taken } from './sighting.ts'

/** A message as far as it was read. `question`: null until it was read; `section`: the one that its next records are in. */
type Entry = {
  at: Instant | null
  status: string
  flags: string[]
  question: { name: Name; type: string } | null
  section: string
  answers: Printed[]
  authorities: string[]
  wasBlank: boolean
}

/** What every entry begins with. */
export const BEGIN = ';; Server: '
const TIME = /^;; Unix time: (\d{1,11})$/
const STATUS = /^;; ->>HEADER<<- opcode: \w+, status: (\w+),/
const FLAGS = /^;; flags: ([a-z ]*);/
const SECTION = /^;; ([A-Z]+) SECTION:$/
const QUESTION = /^(\S+) (\S+) (\S+)$/
const RECORD = /^(\S+) (\d+) (\S+) (\S+) (.*)$/
const MOST_RECORDS = 2000

/** An entry ends with two empty lines, or where the next one begins. What is left of one that was refused is passed by. */
export function fullText(observedAt: Instant | null): LineReader {
  let entry: Entry | 'refused' | null = null
  const finish = (): Taken => {
    const made = entry === null || entry === 'refused' ? null : sightingsOf(entry)
    entry = null
    return made
  }
  return {
    take(line) {
      if (line.startsWith(BEGIN)) {
        const made = finish()
        entry = begin(observedAt)
        return made
      }
      const isBlank = line.trim() === ''
      if (entry === 'refused' || (entry === null && isBlank)) return null
      if (entry === null) return `must be in an entry, which begins with ${BEGIN}`
      if (isBlank && entry.wasBlank) return finish()
      entry.wasBlank = isBlank
      const wrong = isBlank ? null : read(entry, line)
      if (wrong !== null) entry = 'refused'
      return wrong
    },
    end: finish,
  }
}

function begin(at: Instant | null): Entry {
  return { at, status: '', flags: [], question: null, section: '', answers: [], authorities: [], wasBlank: false }
}

/** Takes one line of an entry; a text: what is wrong with it. */
function read(entry: Entry, line: string): string | null {
  if (!line.startsWith(';;')) return entry.section === 'QUESTION' ? readQuestion(entry, line) : readRecord(entry, line)
  const [, time] = TIME.exec(line) ?? []
  if (time !== undefined) entry.at = Number(time)
  entry.status = STATUS.exec(line)?.[1] ?? entry.status
  entry.flags = FLAGS.exec(line)?.[1]?.split(' ') ?? entry.flags
  entry.section = SECTION.exec(line)?.[1] ?? entry.section
  return null
}

function readQuestion(entry: Entry, line: string): string | null {
  const [, domain, , type] = QUESTION.exec(line) ?? []
  if (domain === undefined || type === undefined) return 'question: must be a name, a class and a type'
  const name = parseName(domain)
  if (name === null) return `question: ${whyNotDomain(domain)}`
  if (entry.at === null) return NO_TIME
  entry.question = { name, type }
  return null
}

function readRecord(entry: Entry, line: string): string | null {
  const [, owner, , kind, type, data] = RECORD.exec(line) ?? []
  if (owner === undefined || type === undefined || data === undefined)
    return 'record: must be a name, a time to live, a class, a type and data'
  if (entry.answers.length + entry.authorities.length >= MOST_RECORDS) return `record: is over the ${MOST_RECORDS}th`
  if (entry.section === 'AUTHORITY') entry.authorities.push(type)
  if (entry.section === 'ANSWER') entry.answers.push(printedRecord(owner, kind === 'IN' ? type : '', data))
  return null
}

/** An entry that breaks off before its question says nothing. */
function sightingsOf({ at, question, ...message }: Entry & Message): Taken {
  if (question === null || at === null) return 'question: is missing'
  const type = RECORD_TYPES.find((each) => each === question.type)
  if (type === undefined) return []
  const answer = answerOf(question.name, type, message)
  if (typeof answer === 'string') return `answer: ${answer}`
  return answer === null ? [] : [{ name: question.name, at, kind: 'asked', type, answer }]
}
