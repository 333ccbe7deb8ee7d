/** Reads the pages of docs/: their sections, table cells, code spans and examples. */

import { readFileSync } from 'node:fs'

/** A command and its output. */
export type Example = { command: string; output: string }

export function readPage(name: string): string {
  return readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
}

/** The text under each heading of a level, up to the next heading of that level or a higher one. */
export function sections(page: string, level: number): Map<string, string> {
  const found = new Map<string, string>()
  let title: string | null = null
  for (const line of page.split('\n')) {
    const [, marks = '', text = ''] = /^(#+) (.*)$/.exec(line) ?? []
    if (marks !== '' && marks.length <= level) title = marks.length === level ? text : null
    else if (title !== null) found.set(title, `${found.get(title) ?? ''}${line}\n`)
  }
  return found
}

/** The rows of the table whose header begins with a cell, without the header, or none without such a table. */
export function tableOf(text: string, header: string): string[][] {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`| ${header} |`))
  if (start < 0) return []
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return lines.slice(start + 2, end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

/** The code spans of a text, without surrounding links. */
export function codes(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word!)
}

/** Every shell block of one command, with the JSON block that follows it. */
export function examples(page: string): Example[] {
  const blocks = page.matchAll(/```sh\n([^\n]+)\n```\n\n```json\n([^\n]+)\n```/g)
  return [...blocks].map(([, command, output]) => ({ command: command!, output: output! }))
}
