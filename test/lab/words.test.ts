/** Tests the table of scenarios: each row is unique, and no required scenario is missing. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NETWORKS } from '../../lab/scenarios/social.ts'
import { internetOf, namesOf, ROWS, stateOf } from '../../lab/scenarios.ts'
import { MEANING } from './meaning.ts'
import { observationOf } from './rows.ts'

const known = new Set(ROWS.map(({ name }) => name))

test('every scenario word has its row', () => {
  for (const [word, names] of Object.entries(MEANING)) {
    assert.ok(names.length > 0, word)
    for (const name of names) assert.ok(known.has(name), `${word}: ${name} is no row`)
  }
})

test('every social network has its row', () => {
  assert.deepEqual(
    NETWORKS.filter((network) => !known.has(`on-${network}.example`)),
    [],
  )
})

test('no two rows have the same name, and no domain is in two rows', () => {
  assert.equal(known.size, ROWS.length)
  const names = ROWS.flatMap(namesOf)
  assert.equal(new Set(names).size, names.length)
  assert.ok(names.length >= 80)
})

test('no host is defined by two rows', () => {
  for (const state of [0, 1]) {
    const hosts = ROWS.flatMap((row) => namesOf(row).flatMap((name) => Object.keys(stateOf(row, name, state).zone)))
    assert.deepEqual(
      hosts.filter((host, index) => hosts.indexOf(host) !== index),
      [],
    )
  }
})

test('every site is at a host that DNS knows', () => {
  for (const state of [0, 1]) {
    const { dns, sites } = internetOf(ROWS, state)
    assert.deepEqual(
      [...sites.keys()].filter((host) => dns[host] === undefined),
      [],
    )
  }
})

test('no name of the lab can ever exist', () => {
  const reserved = /\.(example|test|invalid)$/ // RFC 2606, section 2
  const impossible = /(^|\.)[^.]*_[^.]*\.(co\.uk|github\.io)$/ // no registry accepts an underscore (RFC 1123, section 2.1)
  for (const state of [0, 1]) {
    const hosts = Object.keys(internetOf(ROWS, state).dns)
    assert.deepEqual(
      hosts.filter((host) => !reserved.test(host) && !impossible.test(host)),
      [],
    )
  }
})

test('every row has a description, and gives an observation in the format of files', () => {
  for (const row of ROWS) {
    assert.match(row.description, /^[A-Z0-9].*\.$/, row.name)
    for (const name of namesOf(row)) for (const state of [0, 1]) observationOf(row, name, state, 0)
  }
})
