/** What stands below each view: the code that repeats its call, and its data as JSON and CSV. */

import { spreadsheetRow } from '../../../../src/values/csv.ts'
import { Button } from '../../../parts/button.tsx'
import { CodeVariants } from '../../../parts/code-block.tsx'
import { Disclosure } from '../../../parts/disclosure.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { type ApiCall, snippetsOf } from './snippets.ts'

/** A row of a spreadsheet; null is an empty cell, and a list has spaces between its members, as in the CSV of the API. */
export type CsvRow = Record<string, string | number | null | string[]>

export type DataToolsProps = { name: string; call: ApiCall | null; json: unknown; rows: () => CsvRow[] }

/** `name`: the name of the files without extension. `call` null: programs have no such call. */
export function DataTools({ name, call, json, rows }: DataToolsProps) {
  const file = name.replace(/[^\w.-]/g, '_')
  return (
    <footer class="data-tools">
      <div class="data-buttons">
        <Button kind="quiet" isSmall onClick={() => saveText(`${file}.json`, 'application/json', prettyJson(json))}>
          <Icon name="download" /> JSON
        </Button>
        <Button kind="quiet" isSmall onClick={() => saveText(`${file}.csv`, 'text/csv', csvOf(rows()))}>
          <Icon name="download" /> CSV
        </Button>
        <span class="hint">of what is shown, free</span>
      </div>
      {call !== null && <CallCode call={call} />}
    </footer>
  )
}

function CallCode({ call }: { call: ApiCall }) {
  return (
    <Disclosure
      summary={
        <>
          <Icon name="code" /> Repeat this call from a program
        </>
      }
    >
      {() => (
        <>
          <CodeVariants variants={snippetsOf(window.location.origin, call)} />
          <p class="hint">
            Put a token from <a href="/account/tokens">your tokens</a> into the variable <code>DOMAINDEX_TOKEN</code>.
          </p>
        </>
      )}
    </Disclosure>
  )
}

function prettyJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** The first row has the names of the columns. */
function csvOf(rows: readonly CsvRow[]): string {
  const [first] = rows
  if (first === undefined) return ''
  const columns = Object.keys(first)
  const lines = rows.map((row) => spreadsheetRow(columns.map((column) => cellOf(row[column]))))
  return `${columns.join(',')}\n${lines.join('\n')}\n`
}

function cellOf(value: CsvRow[string] | undefined): string {
  return Array.isArray(value) ? value.join(' ') : String(value ?? '')
}

/** Lets the browser save a text as a file. */
function saveText(filename: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = filename
  link.click()
  URL.revokeObjectURL(url)
}
