/** Tests that a batch passes between threads without loss, and that its memory moves instead of being copied. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import * as fc from 'fast-check'
import type { PreparedObservation } from '../../src/apply/prepare.ts'
import {
  buffersOfColumns,
  createColumnBuffer,
  type ObservationColumns,
  preparedFromColumns,
} from '../../src/import/observation-columns.ts'
import type { DomainName } from '../../src/values/domain-name.ts'

const MAX_ROWS = 20
const fingerprints = fc.integer({ min: 1, max: 2 ** 48 - 1 })
/** A part without text has fingerprint 0, and only such a part has it. */
const parts = fc.option(fc.tuple(fc.string({ unit: 'binary' }), fingerprints))
const rows: fc.Arbitrary<PreparedObservation> = fc
  .record({
    name: fc.domain().map((name) => name as DomainName),
    observed_at: fc.integer({ min: 0, max: 253_402_300_799 }),
    queriedTypes: fc.nat(127),
    interruptedTypes: fc.nat(127),
    isOk: fc.boolean(),
    dns: parts,
    web: parts,
  })
  .map(({ dns, web, ...row }) => {
    const [dnsText, dnsFingerprint] = dns ?? [null, 0]
    const [webText, webFingerprint] = web ?? [null, 0]
    return { ...row, dns: dnsText, web: webText, dnsFingerprint, webFingerprint }
  })

test('every observation of a batch arrives as it was sent, in each of several batches', () => {
  fc.assert(
    fc.property(fc.array(fc.array(rows, { maxLength: MAX_ROWS }), { maxLength: 3 }), (batches) => {
      const buffer = createColumnBuffer(MAX_ROWS)
      for (const batch of batches) {
        for (const row of batch) buffer.add(row)
        assert.equal(buffer.size(), batch.length)
        assert.deepEqual(preparedFromColumns(sent(buffer.takeColumns())).map(plain), batch)
      }
    }),
  )
})

test('a batch with more text than its buffer first holds arrives as it was sent', () => {
  const text = 'é€😀'.repeat(200_000)
  const row = { name: 'a.example' as DomainName, observed_at: 1, queriedTypes: 1, interruptedTypes: 0, isOk: true }
  const buffer = createColumnBuffer(2)
  const batch = [1, 2].map((fingerprint) => {
    return { ...row, dns: `${fingerprint}`, web: text, dnsFingerprint: fingerprint, webFingerprint: fingerprint }
  })
  for (const each of batch) buffer.add(each)
  assert.deepEqual(preparedFromColumns(sent(buffer.takeColumns())).map(plain), batch)
})

/** Sends columns as the reader does. The sender keeps no memory of them. */
function sent(columns: ObservationColumns): ObservationColumns {
  const { port1, port2 } = new MessageChannel()
  port1.postMessage(columns, buffersOfColumns(columns))
  const { message } = receiveMessageOnPort(port2) as { message: ObservationColumns }
  assert.equal(columns.text.byteLength, 0)
  port1.close()
  return message
}

function plain({ name, observed_at, queriedTypes, isOk, dns, web, ...rest }: PreparedObservation): PreparedObservation {
  const { interruptedTypes, dnsFingerprint, webFingerprint } = rest
  return { name, observed_at, queriedTypes, interruptedTypes, isOk, dns, web, dnsFingerprint, webFingerprint }
}
