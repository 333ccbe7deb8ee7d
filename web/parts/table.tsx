/** Tables with a caption and headers. On narrow screens they scroll sideways in their own box. */

import type { ComponentChildren } from 'preact'

export type Column<Row> = {
  name: string
  cell: (row: Row) => ComponentChildren
  /** Aligns numbers to the right. */
  isNumber?: boolean
  /** The header is for screen readers only. */
  isHidden?: boolean
}

type TableProps<Row> = {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string | number
  /** The caption is visible. */
  showsCaption?: boolean
}

/** The first column has the headers of the rows. */
export function Table<Row>({ caption, columns, rows, keyOf, showsCaption = false }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section class="table-box" aria-label={caption} tabIndex={0}>
      <table>
        <caption class={showsCaption ? '' : 'hidden'}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, isHidden }) => (
              <th key={name} scope="col" class={isNumber ? 'number' : ''}>
                {isHidden ? <span class="hidden">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column, index) => (
                <Cell key={column.name} column={column} row={row} isFirst={index === 0} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Cell<Row>({ column, row, isFirst }: { column: Column<Row>; row: Row; isFirst: boolean }) {
  const className = column.isNumber ? 'number' : ''
  if (!isFirst) return <td class={className}>{column.cell(row)}</td>
  return (
    <th scope="row" class={className}>
      {column.cell(row)}
    </th>
  )
}
