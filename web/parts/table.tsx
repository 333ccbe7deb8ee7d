/** Tables with a caption and headers. On narrow screens they scroll sideways in their own box, or stack. */

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
  /** On narrow screens, each row becomes a block of labelled lines. */
  stacks?: boolean
  /** Less space between rows, for long lists. */
  isDense?: boolean
}

/** The first column has the headers of the rows. */
export function Table<Row>({ caption, columns, rows, keyOf, stacks = false, isDense = false }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section class={`table-box${stacks ? ' stacks' : ''}${isDense ? ' dense' : ''}`} aria-label={caption} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
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
  const { name, isNumber, isHidden } = column
  const className = `${isNumber ? 'number' : ''}${isHidden ? ' unlabelled' : ''}`
  if (!isFirst)
    return (
      <td class={className} data-label={name}>
        {column.cell(row)}
      </td>
    )
  return <th scope="row">{column.cell(row)}</th>
}
