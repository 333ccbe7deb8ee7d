/**
 * Writes src/lookalikes/confusables.ts: which characters outside ASCII look like the characters of a label.
 * `node scripts/confusables.ts FOLDER`, with confusables.txt (UTS 39) and UnicodeData.txt of the Unicode Character
 * Database in the folder.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { domainToASCII, domainToUnicode } from 'node:url'

const TARGET = new URL('../src/lookalikes/confusables.ts', import.meta.url)
const LABEL_TEXT = /^[a-z0-9-]{1,2}$/
/** What further letters resemble: a turned or upright form, or the capital of a Latin letter. */
const FURTHER: Readonly<Record<string, string>> = {
  ...{ a: 'ə', b: 'ьƅ', e: 'ə', g: 'ԍ', h: 'н', k: 'к', m: 'м', n: 'пи', p: 'ƿ', r: 'г', t: 'тτ', u: 'υμʉ', w: 'шω' },
}
const COLUMNS = 116

/** Characters by the text that they look like. */
type Table = Map<string, string[]>

function readTables(folder: string): { identical: Table; similar: Table } {
  const identical: Table = new Map()
  const similar: Table = new Map()
  const skeletons = readSkeletons(`${folder}/confusables.txt`)
  for (const line of readFileSync(`${folder}/UnicodeData.txt`, 'utf8').split('\n')) {
    const [code = '', name = ''] = line.split(';')
    const character = String.fromCodePoint(Number.parseInt(code || '0', 16))
    if (character < '\x80' || !canStandInLabel(character)) continue
    const skeleton = skeletons.get(character) ?? character
    const letter = /^LATIN (?:SMALL LETTER|LETTER SMALL CAPITAL) ([A-Z])(?: WITH .*)?$/.exec(name)?.[1]
    const further = Object.keys(FURTHER).filter((text) => FURTHER[text]!.includes(character))
    const texts = [skeleton, letter, ...further, withoutMarks(character), withoutMarks(skeleton)]
    for (const text of new Set(texts.map((each) => each?.toLowerCase() ?? ''))) {
      if (!LABEL_TEXT.test(text)) continue
      const table = text === skeleton ? identical : similar
      table.set(text, [...(table.get(text) ?? []), character])
    }
  }
  return { identical, similar }
}

function readSkeletons(path: string): Map<string, string> {
  const skeletons = new Map<string, string>()
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [from, to] = line.split(';').map((codes) => codes.trim().split(/\s+/))
    if (from?.length !== 1 || to === undefined || !/^[0-9A-F]+$/.test(from[0]!)) continue
    skeletons.set(textOfCodes(from), textOfCodes(to))
  }
  return skeletons
}

const textOfCodes = (codes: string[]) => String.fromCodePoint(...codes.map((code) => Number.parseInt(code, 16)))
const withoutMarks = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** Whether a character is a letter or a digit that UTS 46 leaves as it is. */
function canStandInLabel(character: string): boolean {
  if (!/^[\p{L}\p{N}]$/u.test(character)) return false
  const ascii = domainToASCII(`${character}.example`)
  return ascii.startsWith('xn--') && domainToUnicode(ascii) === `${character}.example`
}

function linesOf(table: Table): string {
  const rows = [...table].sort(([a], [b]) => (a < b ? -1 : 1)).map(([text, characters]) => rowOf(text, characters))
  return rows.join('\n')
}

/** A row: the text, and the characters as escapes, because some are written from right to left. */
function rowOf(text: string, characters: readonly string[]): string {
  const key = /^[a-z]+$/.test(text) ? text : `'${text}'`
  const escapes = characters.map((each) => {
    const code = each.codePointAt(0)!.toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
  const whole = `  ${key}: '${escapes.join('')}',`
  if (whole.length <= COLUMNS + 4) return whole
  const lines = ['']
  for (const each of escapes) {
    if (lines.at(-1)!.length + each.length > COLUMNS - 4) lines.push('')
    lines[lines.length - 1] += each
  }
  return `  ${key}:\n${lines.map((line) => `    '${line}'`).join(' +\n')},`
}

const [folder] = argv.slice(2)
if (folder === undefined) throw new Error('name the folder with confusables.txt and UnicodeData.txt')
const { identical, similar } = readTables(folder)
writeFileSync(
  TARGET,
  `/** Characters outside ASCII by what they look like, from Unicode 15. scripts/confusables.ts computes them. */

/** Those that UTS 39 calls confusable with the text. */
export const IDENTICAL: Readonly<Record<string, string>> = {
${linesOf(identical)}
}

/** Those with a diacritic, a hook or a stroke, small capitals, and letters that resemble a capital. */
export const SIMILAR: Readonly<Record<string, string>> = {
${linesOf(similar)}
}
`,
)
