/** Rows of CSV as a Parquet file: a stream of bytes, in row groups of bounded size. */

import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { ByteWriter, parquetWriteRows } from 'hyparquet-writer'
import { csvFields } from '../values/csv.ts'

/** Rows of a row group. The first column is sorted, so a reader skips groups by their first and last name. */
const ROWS_PER_GROUP = 100_000

/**
 * Yields the bytes of the file. `batches`: complete rows of CSV (RFC 4180), one per line, without a header. All columns
 * are text, and an empty field is null.
 */
export async function* parquetRows(
  columns: readonly string[],
  batches: AsyncIterable<string>,
): AsyncGenerator<Uint8Array> {
  const output = new PassThrough()
  const written = parquetWriteRows({
    writer: streamWriter(output),
    rows: rowsOf(columns, batches),
    columns: columns.map((name, index) => ({ name, columnIndex: index === 0 })),
    schema: [
      { name: 'domains', num_children: columns.length },
      ...columns.map((name) => ({
        ...{ name, type: 'BYTE_ARRAY' as const, converted_type: 'UTF8' as const },
        repetition_type: 'OPTIONAL' as const,
      })),
    ],
    rowGroupSize: ROWS_PER_GROUP,
    statisticsTruncateLength: Number.POSITIVE_INFINITY,
    createdBy: 'domaindex',
  })
  Promise.resolve(written).then(
    () => output.end(),
    (error: Error) => output.destroy(error),
  )
  yield* output as AsyncIterable<Uint8Array>
}

async function* rowsOf(
  columns: readonly string[],
  batches: AsyncIterable<string>,
): AsyncGenerator<Record<string, string | null>> {
  for await (const text of batches)
    for (const line of text.split('\n')) {
      if (line === '') continue
      const fields = csvFields(line)
      yield Object.fromEntries(columns.map((name, index) => [name, fields[index] || null]))
    }
}

/** A writer that passes the bytes of each row group on, and waits until they are read. */
function streamWriter(output: PassThrough) {
  const writer = new ByteWriter()
  const flush = async (): Promise<void> => {
    const bytes = Buffer.from(writer.getBytes())
    writer.index = 0
    if (bytes.length > 0 && !output.write(bytes)) await once(output, 'drain')
  }
  return Object.assign(writer, { flush, finish: flush })
}
