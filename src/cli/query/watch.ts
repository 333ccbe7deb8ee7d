/** `domaindex watch`: creates, lists, mutes and removes watches of an account on a server, and prints its events. */

import { type Command, InvalidArgumentError } from 'commander'
import type { DigestResponse, DomaindexClient, NewWatch } from '../../../client/src/client.ts'
import { DIGEST_FIELDS } from '../../api/endpoints/watch/digest.ts'
import { EVENT_FIELDS } from '../../api/endpoints/watch/events.ts'
import { PREVIEW_FIELDS } from '../../api/endpoints/watch/preview.ts'
import { UsageFault } from '../../config/command-fault.ts'
import { loadSettings } from '../../config/settings.ts'
import { THRESHOLDS_TEXT, WATCH_KINDS } from '../../values/watch-kind.ts'
import { EXIT_CODES_HELP } from '../program/client-fault.ts'
import { reportLine } from '../program/output.ts'
import { addOutputOptions, addServerOptions, withAnswerSource } from './query-command.ts'
import { type OutputOptions, openRowWriter, type Row, type RowShape, type RowWriter } from './row-writer.ts'
import { requestedServer, type ServerOptions } from './source.ts'

export type WatchOptions = ServerOptions & OutputOptions
type EventsOptions = WatchOptions & { after?: number; follow?: true }

const WATCH_FIELDS = ['id', 'kind', 'value', 'threshold', 'types', 'created', 'muted']
const WATCH_SHAPE: RowShape = { fields: WATCH_FIELDS, columns: WATCH_FIELDS }
const PREVIEW_SHAPE: RowShape = { fields: PREVIEW_FIELDS, columns: PREVIEW_FIELDS }
const DIGEST_SHAPE: RowShape = { fields: DIGEST_FIELDS, columns: DIGEST_FIELDS }
const FEED_FIELDS = ['url', 'created']
const FEED_SHAPE: RowShape = { fields: FEED_FIELDS, columns: FEED_FIELDS }
const EVENT_SHAPE: RowShape = {
  fields: EVENT_FIELDS,
  columns: EVENT_FIELDS,
  split: (row) => [withDifferencesText(row)],
}
/** Events of a page, and seconds to wait for one while following. */
const PAGE_EVENTS = 1_000
const FOLLOW_SECONDS = 30

/** An event with its differences as JSON, for tables and CSV. */
function withDifferencesText(row: Row): Row {
  return { ...row, differences: JSON.stringify(row.differences) }
}

export function defineWatch(command: Command): void {
  ruleCommand(command, 'add', 'watch a name, an address or something else').action(addWatch)
  ruleCommand(command, 'preview', 'print what a watch would have matched in the last 30 days (1 call)').action(
    previewWatch,
  )
  accountCommand(command, 'list', 'list the watches').action((options: WatchOptions) =>
    withServer(options, WATCH_SHAPE, async (client, writer, signal) =>
      writer.write((await client.watches({ signal })).watches),
    ),
  )
  accountCommand(command, 'mute', 'mute a watch: it matches nothing until that is ended')
    .argument('<id>', 'the ID of the watch', parseCount)
    .option('--off', 'end it')
    .action((id: number, options: WatchOptions & { off?: true }) =>
      withServer(options, WATCH_SHAPE, async (client, writer, signal) =>
        writer.write([await client.muteWatch(id, !options.off, { signal })]),
      ),
    )
  accountCommand(command, 'remove', 'remove a watch')
    .argument('<id>', 'the ID of the watch', parseCount)
    .action((id: number, options: WatchOptions) =>
      withServer(options, WATCH_SHAPE, (client, _writer, signal) => client.removeWatch(id, { signal })),
    )
  accountCommand(command, 'events', 'print what the watches matched, oldest first')
    .option('--after <id>', 'only events after this one', parseCount)
    .option('--follow', 'wait for further events, until you stop it')
    .action((options: EventsOptions) =>
      withServer(options, EVENT_SHAPE, (client, writer, signal) => printEvents(client, writer, options, signal)),
    )
  accountCommand(command, 'digest', 'have the events sent by mail')
    .argument('[period]', 'off, hourly or daily; without it, the one in force is printed')
    .action(setDigest)
  accountCommand(
    command,
    'feed',
    'print a new link to an Atom feed of the events; an earlier one is not valid any more',
  )
    .option('--revoke', 'end the link')
    .action(changeFeed)
}

/** Creates the link of a feed and prints it, or ends the one that there is. */
async function changeFeed(options: WatchOptions & { revoke?: true }): Promise<void> {
  await withServer(options, FEED_SHAPE, async ({ feed }, writer, signal) => {
    if (options.revoke) return feed.remove({ signal })
    const server = requestedServer(options, loadSettings())!.replace(/\/+$/, '')
    const { path, created } = await feed.create({ signal })
    await writer.write([{ url: `${server}${path}`, created }])
  })
}

/** Without a period, prints the one in force. */
async function setDigest(period: string | undefined, options: WatchOptions): Promise<void> {
  await withServer(options, DIGEST_SHAPE, async ({ digest }, writer, signal) =>
    writer.write([
      period === undefined
        ? await digest.get({ signal })
        : await digest.set(period as DigestResponse['period'], { signal }),
    ]),
  )
}

/** A command about what belongs to an account of a server. */
export const accountCommand = (command: Command, name: string, description: string): Command =>
  addServerOptions(addOutputOptions(command.command(name).description(description))).addHelpText(
    'after',
    `\n${EXIT_CODES_HELP}`,
  )

export function parseCount(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

/** Throws UsageFault without a server: watches and webhooks belong to an account. */
export async function withServer(
  options: WatchOptions,
  shape: RowShape,
  work: (client: DomaindexClient, writer: RowWriter, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (requestedServer(options, loadSettings()) === null)
    throw new UsageFault(
      'watches and webhooks belong to an account of a server: name it with --server or DOMAINDEX_SERVER',
    )
  const writer = openRowWriter(shape, options)
  await withAnswerSource(options, writer, ({ client }, signal) => work(client, writer, signal))
}

type RuleOptions = WatchOptions & { types?: string; threshold?: number }

/** A command with what a watch asks for. */
const ruleCommand = (command: Command, name: string, description: string): Command =>
  accountCommand(command, name, description)
    .argument('<kind>', `one of ${WATCH_KINDS.join(', ')}`)
    .argument('<value>', 'a name, an address, a network or a pattern, as the kind says')
    .option('--types <types>', 'only differences of these types, separated by commas')
    .option('--threshold <number>', THRESHOLDS_TEXT, parseCount)

function ruleOf(kind: string, value: string, { types, threshold }: RuleOptions): NewWatch {
  return { kind, value, threshold, types: types?.split(',').map((type) => type.trim()) } as NewWatch
}

function addWatch(kind: string, value: string, options: RuleOptions): Promise<void> {
  return withServer(options, WATCH_SHAPE, async (client, writer, signal) =>
    writer.write([await client.createWatch(ruleOf(kind, value, options), { signal })]),
  )
}

function previewWatch(kind: string, value: string, options: RuleOptions): Promise<void> {
  return withServer(options, PREVIEW_SHAPE, async (client, writer, signal) => {
    const { meta, result } = await client.previewWatch(ruleOf(kind, value, options), { signal })
    await writer.write(result)
    if (!meta.complete) reportLine('There may be more: a preview has a limit.')
  })
}

async function printEvents(
  client: DomaindexClient,
  writer: RowWriter,
  { after = 0, follow }: EventsOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let next = after; ; ) {
    const wait = follow ? FOLLOW_SECONDS : 0
    const { meta, result } = await client.events({ after: next, limit: PAGE_EVENTS, wait, signal })
    await writer.write(result)
    next = meta.next
    if (!follow && result.length < meta.limit) return
  }
}
