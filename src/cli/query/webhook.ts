/** `domaindex webhook`: creates, lists, tests and removes webhooks of an account on a server, and prints what failed. */

import { type Command, InvalidArgumentError } from 'commander'
import { DELIVERY_FIELDS, WEBHOOK_FIELDS } from '../../api/endpoints/watch/webhooks.ts'
import type { RowShape } from './row-writer.ts'
import { accountCommand, parseCount, type WatchOptions, withServer } from './watch.ts'

const WEBHOOK_COLUMNS = ['id', 'url', 'watches', 'state', 'last_success', 'last_error', 'waiting', 'dead']
const WEBHOOK_SHAPE: RowShape = { fields: WEBHOOK_FIELDS, columns: WEBHOOK_COLUMNS }
const CREATED_SHAPE: RowShape = { fields: [...WEBHOOK_FIELDS, 'secret'], columns: ['id', 'url', 'watches', 'secret'] }
const DELIVERY_SHAPE: RowShape = { fields: DELIVERY_FIELDS, columns: DELIVERY_FIELDS }
const TEST_FIELDS = ['delivered', 'status', 'error', 'milliseconds']
const TEST_SHAPE: RowShape = { fields: TEST_FIELDS, columns: TEST_FIELDS }
const REDELIVERED_FIELDS = ['redelivered']
const REDELIVERED_SHAPE: RowShape = { fields: REDELIVERED_FIELDS, columns: REDELIVERED_FIELDS }

export function defineWebhook(command: Command): void {
  accountCommand(command, 'add', 'have events sent to a URL; prints the secret, only once')
    .argument('<url>', 'where the events are sent')
    .option('--watches <ids>', 'only events of these watches, separated by commas', parseIds)
    .action((url: string, options: WatchOptions & { watches?: number[] }) =>
      withServer(options, CREATED_SHAPE, async ({ webhooks }, writer, signal) =>
        writer.write([await webhooks.create({ url, watches: options.watches }, { signal })]),
      ),
    )
  accountCommand(command, 'list', 'list the webhooks').action((options: WatchOptions) =>
    withServer(options, WEBHOOK_SHAPE, async ({ webhooks }, writer, signal) =>
      writer.write((await webhooks.list({ signal })).webhooks),
    ),
  )
  webhookCommand(command, 'remove', 'remove a webhook').action((id: number, options: WatchOptions) =>
    withServer(options, WEBHOOK_SHAPE, ({ webhooks }, _writer, signal) => webhooks.remove(id, { signal })),
  )
  webhookCommand(command, 'test', 'send a test message, and print how the receiver answers').action(
    (id: number, options: WatchOptions) =>
      withServer(options, TEST_SHAPE, async ({ webhooks }, writer, signal) =>
        writer.write([await webhooks.test(id, { signal })]),
      ),
  )
  webhookCommand(command, 'deliveries', 'print the events that could not be delivered').action(
    (id: number, options: WatchOptions) =>
      withServer(options, DELIVERY_SHAPE, async ({ webhooks }, writer, signal) =>
        writer.write((await webhooks.deliveries(id, { signal })).deliveries),
      ),
  )
  webhookCommand(command, 'redeliver', 'send events again that are not tried any more')
    .option('--event <id>', 'only this one', parseCount)
    .action((id: number, options: WatchOptions & { event?: number }) =>
      withServer(options, REDELIVERED_SHAPE, async ({ webhooks }, writer, signal) =>
        writer.write([{ redelivered: await webhooks.redeliver(id, options.event, { signal }) }]),
      ),
    )
}

/** Throws InvalidArgumentError, which commander prints. */
function parseIds(text: string): number[] {
  const ids = text.split(',').map((id) => id.trim())
  if (ids.every((id) => /^\d{1,15}$/.test(id))) return ids.map(Number)
  throw new InvalidArgumentError('It must be IDs of watches, separated by commas, such as 3,19.')
}

const webhookCommand = (command: Command, name: string, description: string): Command =>
  accountCommand(command, name, description).argument('<id>', 'the ID of the webhook', parseCount)
