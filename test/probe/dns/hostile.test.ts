/** The resolver against servers that lie, truncate, delay and impersonate, on raw sockets. */

import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import type { IpAddress } from '../../../src/values/ip-address.ts'
import { answerTo, cutOff, framed, LOOPBACK, rawTcp, rawUdp, resolverOf, withoutEdns } from './dns-lab.ts'

const TRUE_ANSWER = { outcome: 'records', records: ['192.0.2.1'], aliases: [] }
const MALFORMED = { outcome: 'failed', why: 'malformed' }

/** False answers before the true one. The resolver must ignore each of them. */
const LIES: Record<string, (question: Buffer) => Buffer> = {
  'another id': (question) => answerTo(question, '192.0.2.66', question.readUInt16BE() ^ 1),
  'another question': (question) => changed(answerTo(question, '192.0.2.66'), 13, 122),
  'another type': (question) => changed(answerTo(question, '192.0.2.66'), withoutEdns(question).length - 3, 28),
  'another class': (question) => changed(answerTo(question, '192.0.2.66'), withoutEdns(question).length - 1, 3),
  'a question itself': (question) => changed(answerTo(question, '192.0.2.66'), 2, 0),
  'two questions': (question) => changed(answerTo(question, '192.0.2.66'), 5, 2),
  'no question': (question) => changed(answerTo(question, '192.0.2.66'), 5, 0),
  'an update': (question) => changed(answerTo(question, '192.0.2.66'), 2, 0xa8),
  'too short for a header': (question) => question.subarray(0, 11),
  'a header alone': (question) => changed(question.subarray(0, 12), 2, 0x80),
  nothing: () => Buffer.alloc(0),
}

function changed(message: Buffer, at: number, byte: number): Buffer {
  const copy = Buffer.from(message)
  copy[at] = byte
  return copy
}

test('an answer to another query is ignored, and the true one is awaited', async (t) => {
  for (const [lie, make] of Object.entries(LIES)) {
    const server = await rawUdp(t, (question, { port, address }, socket) => {
      socket.send(make(question), port, address)
      socket.send(answerTo(question, '192.0.2.1'), port, address)
    })
    const resolver = await resolverOf(t, [server])
    assert.deepEqual(await resolver.resolve('abc.test', 'A'), TRUE_ANSWER, lie)
  }
})

test('an answer from another port or address is ignored', async (t) => {
  const liars = [createSocket('udp4'), createSocket('udp4')]
  for (const [index, liar] of liars.entries()) {
    await once(liar.bind(0, `127.0.0.${index + 1}`), 'listening')
    t.after(() => liar.close())
  }
  const server = await rawUdp(t, (question, { port, address }, socket) => {
    const report = () => socket.send(answerTo(question, '192.0.2.1'), port, address)
    const [near, far] = liars
    near!.send(answerTo(question, '192.0.2.66'), port, address, () => {
      far!.send(answerTo(question, '192.0.2.67'), port, address, report)
    })
  })
  const resolver = await resolverOf(t, [server])
  assert.deepEqual(await resolver.resolve('abc.test', 'A'), TRUE_ANSWER)
})

test('letter case in the returned question does not matter', async (t) => {
  const server = await rawUdp(t, (question, { port, address }, socket) => {
    const message = answerTo(question, '192.0.2.1')
    for (let at = 13; at < 16; at++) message[at]! -= 32
    socket.send(message, port, address)
  })
  const resolver = await resolverOf(t, [server])
  assert.deepEqual(await resolver.resolve('abc.test', 'A'), TRUE_ANSWER)
})

test('queries leave from many ports, each with its own id', async (t) => {
  const ports = new Set<number>()
  const ids = new Set<number>()
  const server = await rawUdp(t, (question, { port, address }, socket) => {
    ports.add(port)
    ids.add(question.readUInt16BE())
    socket.send(answerTo(question, '192.0.2.1'), port, address)
  })
  const resolver = await resolverOf(t, [server], { sockets: 16 })
  await Promise.all(Array.from({ length: 300 }, (_, index) => resolver.resolve(`n${index}.test`, 'A')))
  assert.ok(ports.size > 12 && ids.size > 280, `${ports.size} ports, ${ids.size} ids`)
})

test('a resolver is queried over IPv6 in the same way', async (t) => {
  const socket = createSocket('udp6')
  socket.on('message', (question, { port, address }) => socket.send(answerTo(question, '192.0.2.1'), port, address))
  try {
    await once(socket.bind(0, '::1'), 'listening')
  } catch {
    return t.skip('no IPv6 here')
  }
  t.after(() => socket.close())
  const resolver = await resolverOf(t, [{ address: '::1' as IpAddress, port: socket.address().port }])
  assert.deepEqual(await resolver.resolve('abc.test', 'A'), TRUE_ANSWER)
})

test('a socket is replaced by one on another port now and then, and no query is lost', async (t) => {
  const ports = new Set<number>()
  const server = await rawUdp(t, (question, { port, address }, socket) => {
    ports.add(port)
    socket.send(answerTo(question, '192.0.2.1'), port, address)
  })
  const resolver = await resolverOf(t, [server], { sockets: 1 })
  let asked = 0
  const worker = async () => {
    while (asked++ < 9000) assert.deepEqual(await resolver.resolve('abc.test', 'A'), TRUE_ANSWER)
  }
  await Promise.all(Array.from({ length: 50 }, worker))
  assert.equal(ports.size, 3)
})

test('an answer that is truncated, has looping names or false lengths is malformed', async (t) => {
  const spoil: ((message: Buffer) => Buffer)[] = [
    (message) => message.subarray(0, -1),
    (message) => message.subarray(0, -14),
    (message) => changed(message, 7, 2),
    (message) => changed(message, message.length - 5, 3),
    (message) => changed(message, message.length - 15, message.length - 16),
    (message) => changed(message, message.length - 16, 0xff),
    (message) => changed(message, message.length - 16, 0x80),
  ]
  const server = await rawUdp(t, (question, { port, address }, socket) => {
    socket.send(spoil[question[13]! - 97]!(answerTo(question, '192.0.2.1')), port, address)
  })
  const resolver = await resolverOf(t, [server])
  for (const index of spoil.keys()) {
    const host = `${String.fromCharCode(97 + index)}.test`
    assert.deepEqual(await resolver.resolve(host, 'A'), MALFORMED, host)
  }
})

test('an answer of 65,535 bytes is read over TCP, complete or byte by byte', async (t) => {
  let pieces = 1
  const server = await rawTcp(t, (socket) => {
    socket.on('data', (question) => void sendIn(socket, framed(largest(question.subarray(2))), pieces))
  })
  const resolver = await resolverOf(t, [server])
  for (pieces of [1, 7, 2000]) {
    const answer = await resolver.resolve('abc.test', 'A')
    assert.equal(answer?.outcome === 'records' && answer.records.length, 4093)
  }
})

/** As many A records as fit, and data of another type up to the last byte. */
function largest(question: Buffer): Buffer {
  const [one, two] = [answerTo(question, '192.0.2.1'), withoutEdns(question)]
  const record = one.subarray(two.length)
  const filling = 65_535 - one.length - 4092 * record.length - 12
  const last = Buffer.concat([record.subarray(0, 12), Buffer.alloc(filling)])
  last[3] = 16
  last.writeUInt16BE(filling, 10)
  const message = Buffer.concat([one, ...Array.from({ length: 4092 }, () => record), last])
  message.writeUInt16BE(4094, 6)
  return message
}

async function sendIn(socket: Socket, bytes: Buffer, pieces: number): Promise<void> {
  const size = Math.ceil(bytes.length / pieces)
  for (let at = 0; at < bytes.length; at += size) {
    await new Promise((done) => socket.write(bytes.subarray(at, at + size), done))
  }
}

test('one connection carries many queries, and their answers arrive in any order', async (t) => {
  let connections = 0
  const server = await rawTcp(t, (socket, count) => {
    connections = count
    const held: Buffer[] = []
    let bytes = Buffer.alloc(0)
    socket.on('data', (piece) => {
      bytes = Buffer.concat([bytes, piece])
      for (; bytes.length > 2; bytes = bytes.subarray(2 + bytes.readUInt16BE())) {
        held.unshift(framed(answerTo(bytes.subarray(2), '192.0.2.1')))
      }
      if (held.length === 20) socket.write(Buffer.concat(held.splice(0)))
    })
  })
  const resolver = await resolverOf(t, [server])
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => resolver.resolve(`n${index}.test`, 'A')))
    for (const answer of answers) assert.deepEqual(answer, TRUE_ANSWER)
  }
  assert.equal(connections, 1)
})

test('if the server closes the connection, a query is repeated once, and not forever', async (t) => {
  let connections = 0
  let answersFrom = 2
  const server = await rawTcp(t, (socket, count) => {
    connections = count
    socket.on('data', (question) => {
      if (count < answersFrom) socket.destroy()
      else socket.write(framed(answerTo(question.subarray(2), '192.0.2.1')))
    })
  })
  const resolver = await resolverOf(t, [server])
  assert.deepEqual(await resolver.resolve('abc.test', 'A'), TRUE_ANSWER)
  answersFrom = Number.POSITIVE_INFINITY
  const other = await resolverOf(t, [server])
  assert.deepEqual(await other.resolve('abc.test', 'A'), { outcome: 'failed', why: 'timeout' })
  assert.equal(connections, 8, 'the only server there is has been asked three times, and each time once more')
})

test('a connection that left a query without an answer is not used again', async (t) => {
  const server = await rawTcp(t, (socket, count) => {
    if (count > 1) socket.on('data', (piece) => socket.write(framed(answerTo(piece.subarray(2), '192.0.2.1'))))
  })
  const resolver = await resolverOf(t, [server], { timeoutMs: 500, attempts: 3 })
  assert.equal((await resolver.resolve('stalled.test', 'A'))?.outcome, 'records')
})

test('over TCP too, answers to other queries are ignored, and a truncated answer is no answer', async (t) => {
  const server = await rawTcp(t, (socket) => {
    socket.on('data', (question) => {
      const asked = question.subarray(2)
      socket.write(
        Buffer.concat([framed(Buffer.alloc(0)), framed(Buffer.alloc(5)), framed(LIES['another id']!(asked))]),
      )
      socket.write(framed(asked[15] === 120 ? cutOff(asked) : answerTo(asked, '192.0.2.1')))
    })
  })
  const resolver = await resolverOf(t, [server])
  assert.deepEqual(await resolver.resolve('abc.test', 'A'), TRUE_ANSWER)
  assert.deepEqual(await resolver.resolve('abx.test', 'A'), MALFORMED)
})

test('if the TCP connection for a truncated answer is refused, the query counts as not sent', async (t) => {
  const server = await rawUdp(t, (question, from, socket) => socket.send(cutOff(question), from.port, from.address))
  const resolver = await resolverOf(t, [{ address: LOOPBACK, port: server.port }])
  assert.equal(await resolver.resolve('abc.test', 'A'), null)
})
