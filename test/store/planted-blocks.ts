/** What a test plants in the inverse index and in the certificates of the store of the maintenance tests. */

import { BlockWriter, startEvent } from '../../src/inverse/entries/block.ts'
import { addressKey, KEY_KIND, latin1Bytes, namedHostKeys } from '../../src/inverse/entries/value-key.ts'
import { address, minute } from './conformance/world.ts'

/** Packs one block of entries without events if they are of a set. `position` and `entries` are in hexadecimal. */
function packed(entries: readonly (readonly [key: string, events: readonly number[]])[]) {
  const writer = new BlockWriter()
  for (const [key, events] of entries) writer.add(latin1Bytes(key), key.length, events, events.length)
  const [block] = writer.take(true)
  return { position: Buffer.from(block!.last).toString('hex'), entries: Buffer.from(block!.bytes).toString('hex') }
}

const event = (at: number): number => startEvent(minute(at))
const addressOf = (text: string, name: string): string => addressKey(address(text)) + name

function namedKey(host: string, byte: string): string {
  return namedHostKeys({ sha256: byte.repeat(32), names: [host] })[0]!
}

/** Statements after each of which a certificate is wrong. */
export const WRONG_CERTIFICATES: readonly (readonly [what: string, sql: string])[] = [
  ['a wrong number of states of a certificate', 'update certificate set states = states + 1'],
  ['a missing certificate', 'delete from certificate'],
  ['a certificate that nobody presented', 'update certificate set states = 0'],
  ['a certificate that cannot be read', `update certificate set details = '['`],
  ['a certificate with another name', `update certificate set details = '["CN=1",1,9,["w.example"],"ec-p256"]'`],
]

/** Each block is wrong in the store of the maintenance tests. */
export const WRONG_BLOCKS: readonly { what: string; position: string; entries: string }[] = [
  { what: 'an entry that no history has', ...packed([[addressOf('192.0.2.9', 'a.example'), [event(1)]]]) },
  { what: 'an entry of a forgotten name', ...packed([[addressOf('192.0.2.1', 'e.example'), [event(1)]]]) },
  { what: 'an entry of a name that is not known', ...packed([[addressOf('192.0.2.1', 'z.example'), [event(1)]]]) },
  { what: 'an entry with an event too many', ...packed([[addressOf('192.0.2.1', 'a.example'), [event(2)]]]) },
  { what: 'an entry without events', ...packed([[addressOf('192.0.2.1', 'a.example'), []]]) },
  { what: 'a name that is not known', ...packed([[`${KEY_KIND.forwardName}z\x01example\x01`, []]]) },
  { what: 'a rotated name that is not known', ...packed([[`${KEY_KIND.rotatedName}.example\x01zz`, []]]) },
  { what: 'a name rotated in its last label', ...packed([[`${KEY_KIND.rotatedName}xample\x01a.e`, []]]) },
  { what: 'an entry of an unknown kind', ...packed([['?example', []]]) },
  { what: 'a name of a certificate that is not known', ...packed([[namedKey('b.example', 'ab'), []]]) },
  { what: 'a name that a certificate does not have', ...packed([[namedKey('c.example', '1f'), []]]) },
  {
    what: 'entries that are not in order',
    ...packed([
      [addressOf('192.0.2.1', 'c.example'), [event(1)]],
      [addressOf('192.0.2.1', 'a.example'), [event(1)]],
    ]),
  },
  {
    what: 'a block with another last position',
    ...packed([[addressOf('192.0.2.1', 'a.example'), [event(1)]]]),
    position: packed([[addressOf('192.0.2.1', 'b.example'), [event(1)]]]).position,
  },
  {
    what: 'a block that cannot be read',
    ...packed([[addressOf('192.0.2.1', 'a.example'), [event(1)]]]),
    entries: '00ff',
  },
]
