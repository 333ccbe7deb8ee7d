/** The transfer of one zone from one server: its serial first, then all of it if the serial has moved. */

import { randomInt } from 'node:crypto'
import { InputError } from '../../import/stream/input-error.ts'
import { DNS_TYPE_CODES } from '../../probe/dns/message/query.ts'
import type { Instant } from '../../values/time.ts'
import { type AnswerLimits, answerMessages, BrokenConnection, type TransferServer } from './connection.ts'
import { TransferReader } from './transfer-reader.ts'
import { signQuery, type TsigKey, TsigVerifier, transferQuery } from './tsig.ts'

const AXFR_TYPE_CODE = 252
const MAX_SERIAL_ANSWER_BYTES = 65_537

/** `zone`: in lower case without a final dot. `key`: null for an unsigned transfer. `now`: the clock of this machine. */
export type TransferSource = { zone: string; server: TransferServer; key: TsigKey | null; now: () => Instant }

/** A complete transfer. `names`: delegations. */
export type TransferredZone = { serial: number; names: number }

/** Returns the serial of the zone at the server. Throws InputError if the server does not answer for the zone. */
export async function zoneSerial(source: TransferSource, limits: Omit<AnswerLimits, 'maxBytes'>): Promise<number> {
  const { reader, query } = startAnswer(source, DNS_TYPE_CODES.SOA, () => {})
  for await (const [message] of answerMessages(source.server, query, {
    ...limits,
    maxBytes: MAX_SERIAL_ANSWER_BYTES,
  })) {
    reader.push(message!)
    if (reader.serial !== null) return reader.serial
    break
  }
  throw new InputError('the server does not answer with the SOA of the zone')
}

/**
 * Transfers the zone: yields the blocks of its master file, and returns its summary. Throws BrokenConnection if the
 * transfer ends before the closing SOA, and InputError if anything in it is wrong.
 */
export async function* transferZone(
  source: TransferSource,
  limits: AnswerLimits,
  onNames: (names: number) => void,
): AsyncGenerator<Buffer, TransferredZone> {
  const blocks: Buffer[] = []
  const { reader, query } = startAnswer(source, AXFR_TYPE_CODE, (block) => blocks.push(block))
  for await (const messages of answerMessages(source.server, query, limits)) {
    for (const message of messages) {
      if (reader.isWhole) throw new InputError('messages follow the closing SOA')
      reader.push(message)
    }
    yield* blocks.splice(0)
    onNames(reader.names)
    if (reader.isWhole) return { serial: reader.serial!, names: reader.names }
  }
  throw new BrokenConnection('the server ended the transfer before its end')
}

function startAnswer(
  { zone, key, now }: TransferSource,
  typeCode: number,
  onBlock: (block: Buffer) => void,
): { reader: TransferReader; query: Buffer } {
  const id = randomInt(65_536)
  const plain = transferQuery(zone, typeCode, id)
  if (key === null) return { reader: new TransferReader({ id, zone, verifier: null }, onBlock), query: plain }
  const { message, mac } = signQuery(plain, key, now())
  const verifier = new TsigVerifier(key, mac, now)
  return { reader: new TransferReader({ id, zone, verifier }, onBlock), query: message }
}
