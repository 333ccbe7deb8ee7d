/** The CSV row of a name: its columns and its quotes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CurrentFacts, NO_FACTS } from '../../src/apply/crawl-state.ts'
import { formatCsvRow, LISTING_COLUMNS, listingFields } from '../../src/store/shared/csv-row.ts'
import { parseName } from '../../src/values/domain-name.ts'

const NAME = parseName('a.example')!
const rowOf = (facts: Partial<CurrentFacts>): string => formatCsvRow(listingFields(NAME, { ...NO_FACTS, ...facts }))

/** An MX state of these servers. */
function mail(...servers: string[]): CurrentFacts['states'] {
  const records = JSON.stringify(servers.map((server, priority) => [priority, server]))
  return { MX: { first_seen: 1, count: 1, base: null, records } }
}

test('the columns are those of the contract, in its order', () => {
  assert.equal(
    formatCsvRow(LISTING_COLUMNS),
    'domain,has_website,redirect_to_domain,redirect_target,mx,mail_servers,ssl,ip',
  )
})

test('given no facts, fields are empty, and yes/no fields and ssl have their negative value', () => {
  assert.equal(rowOf({}), 'a.example,no,no,,no,,nocert,')
})

test('mail servers are joined by spaces; a null MX means that there is no mail', () => {
  assert.equal(
    rowOf({ states: mail('mx1.example', 'mx2.example') }),
    'a.example,no,no,,yes,mx1.example mx2.example,nocert,',
  )
  assert.equal(rowOf({ states: mail('.') }), 'a.example,no,no,,no,,nocert,')
  assert.equal(rowOf({ states: mail() }), 'a.example,no,no,,no,,nocert,')
})

test('a field with a comma, a quote or a line break is quoted, and its quotes are doubled', () => {
  assert.equal(rowOf({ states: mail('a,"b".example') }), 'a.example,no,no,,yes,"a,""b"".example",nocert,')
  assert.equal(formatCsvRow(['a', 'b c', 'd,e', 'f"', 'g\nh', 'i\rj', '']), 'a,b c,"d,e","f""","g\nh","i\rj",')
})
