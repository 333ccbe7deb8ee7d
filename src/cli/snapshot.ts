/** `domaindex snapshot`: prints the report on the newest snapshot, or downloads it. */

import { type Command, Option } from 'commander'
import { downloadOneFile, requireFileOutput } from './download/one-file.ts'
import { EXIT_CODES_HELP } from './program/client-fault.ts'
import { addOutputOptions, addServerOptions, withAnswerSource } from './query/query-command.ts'
import { type OutputOptions, openRowWriter } from './query/row-writer.ts'
import type { ServerOptions } from './query/source.ts'

type SnapshotOptions = ServerOptions &
  OutputOptions & { enriched?: true; download?: true; parquet?: true; output?: string }

const REPORT_FIELDS = ['generated', 'domains', 'size', 'filename', 'format', 'enriched_available']
const DOWNLOAD_FIELDS = ['generated', 'domains', 'filename', 'format', 'bytes', 'path']

const SNAPSHOT_HELP = `
The snapshot lists all known domains. A download is verified by its digest and renamed to its name at the end. If it is
stopped, the same command resumes it, unless a newer snapshot was built. --output - writes the compressed file to
standard output.`

export function defineSnapshot(command: Command): void {
  command
    .option('--enriched', 'the edition with website, mail and SSL columns')
    .option('--download', 'download the file')
    .option('--parquet', 'download it as Parquet, if the server builds that (DOMAINDEX_SNAPSHOT_PARQUET)')
    .addOption(
      new Option('--output <path>', 'the file or folder to write; - is standard output; by default this folder'),
    )
    .addHelpText('after', `${SNAPSHOT_HELP}\n\n${EXIT_CODES_HELP}`)
    .action(runSnapshot)
  addServerOptions(addOutputOptions(command))
}

async function runSnapshot(options: SnapshotOptions): Promise<void> {
  const { enriched = false, output } = options
  const isDownload = options.download === true || options.parquet === true || output !== undefined
  requireFileOutput(output)
  const fields = isDownload ? DOWNLOAD_FIELDS : REPORT_FIELDS
  const writer = openRowWriter({ fields, columns: fields }, options, true)
  await withAnswerSource(options, writer, async ({ client }, signal) => {
    const { meta } = await client.snapshot({ enriched, signal })
    if (!isDownload) return writer.write([meta])
    const filename = options.parquet ? meta.filename.replace(/\.(txt|csv)\.gz$/, '.parquet') : meta.filename
    const saved = await downloadOneFile(client, filename, output, signal)
    if (saved !== null) await writer.write([{ ...meta, filename, ...saved }])
  })
}
