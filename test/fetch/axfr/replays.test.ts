/** Signed zone transfers that somebody on the way repeats, reorders, cuts or signs otherwise (RFC 8945). */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TransferBehaviour } from '../../../lab/transfers/server.ts'
import { AnswerSigner, type LabKey, wire, withRecord } from '../../../lab/transfers/signature.ts'
import { failureOf, KEY, LAB_KEY, labels, NOW, openTransfers } from './world.ts'

/** Several messages, as a message has 400 records. */
const ZONE = { serial: 7, delegations: labels(1_500) }
const NOTAUTH = 9
const WRONG = /^a signature is wrong: the key is another one, or the messages were changed/
const OTHER_KEY = /^the server signs with another key than that of the query$/
const MALFORMED = /^a message is malformed: /

type ChangeAnswer = NonNullable<TransferBehaviour['changeAnswer']>

/** Signs all messages anew. */
const signedBy =
  (key: LabKey, requestMac?: Buffer, options = {}): ChangeAnswer =>
  (_, plain, mac) => {
    const signer = new AnswerSigner(key, requestMac ?? mac)
    return plain.map((message) => signer.sign(message, NOW, options))
  }

/** Changes one message. */
const changed =
  (index: number, change: (signed: Buffer, plain: Buffer) => Buffer): ChangeAnswer =>
  (signed, plain) =>
    signed.with(index, change(signed[index]!, plain[index]!))

/** Changes a byte of the TSIG record, counted from behind its name. */
const tsigByte = (at: number): ChangeAnswer =>
  changed(1, (signed, plain) => {
    const bytes = Buffer.from(signed)
    bytes[plain.length + wire(LAB_KEY.name).length + at]! ^= 1
    return bytes
  })

/** Appends a record to the additional section: an empty TXT record of the root, or another. */
function withAdditional(message: Buffer, record: Buffer = Buffer.from([0, 0, 16, 0, 1, 0, 0, 0, 0, 0, 0])): Buffer {
  const bytes = Buffer.concat([message, record])
  bytes.writeUInt16BE(bytes.readUInt16BE(10) + 1, 10)
  return bytes
}

/** The only response: that the server rejects the query. */
const rejection =
  (error: number, code = NOTAUTH): ChangeAnswer =>
  (_, [plain], mac) => {
    const message = Buffer.concat([plain!.subarray(0, 12), plain!.subarray(12, 12 + wire('lab.test').length + 4)])
    message.writeUInt16BE(0x8400 | code, 2)
    message.writeUInt16BE(0, 6)
    return [
      error === 18
        ? new AnswerSigner(LAB_KEY, mac).sign(message, NOW, { error })
        : withRecord(LAB_KEY, message, { time: NOW, mac: Buffer.alloc(0), error }),
    ]
  }

const cases: Record<string, [ChangeAnswer, RegExp]> = {
  'a message is repeated': [(signed) => signed.toSpliced(2, 0, signed[1]!), WRONG],
  'a message takes the place of another': [(signed) => signed.with(2, signed[1]!), WRONG],
  'two messages are exchanged': [(signed) => signed.with(1, signed[2]!).with(2, signed[1]!), WRONG],
  'a message is missing': [(signed) => signed.toSpliced(2, 1), WRONG],
  'the last message is not signed': [
    (signed, plain) => signed.with(-1, plain.at(-1)!),
    /^the last message is not signed$/,
  ],
  'the first message is not signed': [
    (signed, plain) => signed.with(0, plain[0]!),
    /^the server does not sign its answer/,
  ],
  'a message that was signed is not any more': [(signed, plain) => signed.with(1, plain[1]!), WRONG],
  'the signature is for another query': [signedBy(LAB_KEY, Buffer.alloc(32, 1)), WRONG],
  'the signature is for no query': [signedBy(LAB_KEY, Buffer.alloc(0)), WRONG],
  'the signature is cut to half': [signedBy(LAB_KEY, undefined, { macBytes: 16 }), /^a signature is truncated/],
  'the signature is cut to a byte': [signedBy(LAB_KEY, undefined, { macBytes: 1 }), /^a signature is truncated/],
  'the signature is empty': [signedBy(LAB_KEY, undefined, { macBytes: 0 }), /^a signature is truncated/],
  'the key has another name': [signedBy({ ...LAB_KEY, name: 'lab-kez' }), OTHER_KEY],
  'the key has another algorithm': [signedBy({ ...LAB_KEY, hash: 'sha512' }), OTHER_KEY],
  'the key has another secret': [signedBy({ ...LAB_KEY, secret: Buffer.from('another') }), WRONG],
  'a record follows the signature': [changed(1, (signed) => withAdditional(signed)), MALFORMED],
  'a signature follows the signature': [
    changed(1, (signed, plain) => withAdditional(signed, signed.subarray(plain.length))),
    MALFORMED,
  ],
  'a record was put before the signature': [
    changed(1, (signed, plain) =>
      Buffer.concat([Buffer.from(withAdditional(plain).with(11, 2)), signed.subarray(plain.length)]),
    ),
    WRONG,
  ],
  'the signature has another class': [tsigByte(3), MALFORMED],
  'the signature has a TTL': [tsigByte(7), MALFORMED],
  'the signature reports an error, in a transfer': [
    signedBy(LAB_KEY, undefined, { error: 16 }),
    /^the server rejects the signature: .*BADSIG/,
  ],
  'the server rejects the MAC': [rejection(16), /^the server rejects the signature: .*BADSIG.*secret/],
  'the server rejects the key': [rejection(17), /^the server rejects the signature: .*BADKEY.*name and algorithm/],
  'the server rejects the time': [rejection(18), /^the server rejects the signature: .*BADTIME/],
  'the server rejects the time without an error in the header': [rejection(18, 0), /^the server rejects .*BADTIME/],
  'the server reports an unknown error': [rejection(4_000), /^the server rejects the signature: error 4000$/],
}

for (const [title, [changeAnswer, reason]] of Object.entries(cases))
  test(`a signed transfer is refused, and nothing of it is kept, if ${title}`, async (t) => {
    const world = await openTransfers(t, { 'lab.test': ZONE }, { key: LAB_KEY, changeAnswer })
    assert.match(await failureOf(world, KEY), reason)
    assert.deepEqual(world.files(), [])
  })

test('a signed transfer is no answer to a later query, within and outside the time that it may differ', async (t) => {
  let recorded: Buffer[] = []
  const world = await openTransfers(
    t,
    { 'lab.test': ZONE },
    { key: LAB_KEY, changeAnswer: (signed) => (recorded = signed) },
  )
  const [first] = await world.fetch([world.target('lab.test', KEY)])
  assert.equal(first!.outcome, 'fetched')
  const before = world.files()
  for (const seconds of [0, 299, 301, 86_400]) {
    world.clock.now = NOW + 86_400 + seconds
    world.server.zones['lab.test'] = { ...ZONE, serial: 8 }
    for (const isRenumbered of [true, false]) {
      world.server.behaviour = {
        key: LAB_KEY,
        changeAnswer: ([now]) =>
          recorded.map((message) =>
            isRenumbered ? Buffer.concat([now!.subarray(0, 2), message.subarray(2)]) : message,
          ),
      }
      const [again] = await world.fetch([world.target('lab.test', KEY)])
      assert.ok(again!.outcome === 'failed', again!.outcome)
      assert.match(
        again!.reason,
        isRenumbered ? /: a signature is wrong: / : /: a message is not an answer to the query$/,
      )
    }
    assert.deepEqual(world.files(), before)
  }
})
