/** Tests of a newer public suffix list: targets and counters follow it during writes, and a stopped run continues. */

import assert from 'node:assert/strict'
import type { WebPart } from '../../../../src/observe/observation.ts'
import { redirectTargetFor } from '../../../../src/observe/redirect-target.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { RedirectRow, Store } from '../../../../src/store/port/store.ts'
import { retargetAll } from '../../../../src/store/retarget.ts'
import type { DomainName } from '../../../../src/values/domain-name.ts'
import type { Engine } from '../engine.ts'
import { parsePage } from '../reading/paging.ts'
import { name, seen, testWithStore, web } from '../world.ts'

/** The registrable domain by a list with a suffix in addition to `example`. */
function listWith(suffix: string | null): (host: DomainName) => DomainName {
  return (host) => {
    const labels = host.split('.')
    const isUnder = suffix !== null && host.endsWith(`.${suffix}`)
    return labels.slice(-1 - (isUnder ? suffix.split('.').length : 1)).join('.') as DomainName
  }
}

const OLD = listWith(null)
const NEWER = listWith('platform.example')

/** A redirect as observed under a list, with a website if it stays on the own domain. */
function redirect(from: string, host: string, list = OLD): WebPart {
  const target = redirectTargetFor(name(host), name(from), list)
  const isSite = target.redirects_to === null
  const { redirects_to: _, ...part } = web({ has_website: isSite, text: isSite ? 'Some text.' : null })
  return { ...part, ...target }
}

const moved = (from: string, host: string, at = 1, list = OLD) => seen(from, at, null, redirect(from, host, list))

const run = (store: Store, registrableOf = NEWER, signal = new AbortController().signal, list = 'newer') =>
  retargetAll(store, { list, signal, registrableOf })

async function sources(store: Store, target: string): Promise<string[]> {
  const { rows } = parsePage<RedirectRow, unknown>(await store.facts.redirects(name(target), null, 1000))
  const counted = (await store.facts.lookup(name(target)))?.redirect_count
  if (counted !== undefined) assert.equal(counted, rows.length)
  return rows.map((row) => row.target)
}

export function retargeting(engine: Engine): void {
  testWithStore(engine, 'a newer public suffix list changes targets and their counters', async (store) => {
    await ingest(store, [
      moved('one.example', 'shop.platform.example'),
      moved('two.example', 'platform.example'),
      moved('a.platform.example', 'b.platform.example'),
      moved('three.example', 'www.other.example'),
      seen('platform.example', 1, null, web()),
      seen('shop.platform.example', 1, null, web()),
    ])
    assert.deepEqual(await sources(store, 'platform.example'), ['one.example', 'two.example'])
    assert.deepEqual(await run(store), { checked: 6, changed: 2, done: true, resumedAt: null })
    assert.deepEqual(await sources(store, 'platform.example'), ['two.example'])
    assert.deepEqual(await sources(store, 'shop.platform.example'), ['one.example'])
    assert.deepEqual(await sources(store, 'b.platform.example'), ['a.platform.example'])
    assert.deepEqual(await sources(store, 'other.example'), ['three.example'])
    assert.deepEqual(await run(store), { checked: 6, changed: 0, done: true, resumedAt: null })
  })

  testWithStore(engine, 'a name that now redirects has no website and is due at once', async (store) => {
    const one = name('a.platform.example')
    await ingest(store, [moved(one, 'b.platform.example')])
    assert.equal((await store.facts.lookup(one))?.has_website, true)
    await run(store)
    const { has_website, redirect_to_domain, social_accounts } = (await store.facts.lookup(one))!
    assert.deepEqual([has_website, redirect_to_domain, social_accounts], [false, true, '[]'])
    assert.equal((await store.observations.crawlStates([one]))[0]?.due, 0)
    await run(store, OLD)
    assert.equal((await store.facts.lookup(one))?.redirect_to_domain, false)
    await ingest(store, [moved(one, 'b.platform.example', 2)])
    assert.equal((await store.facts.lookup(one))?.has_website, true, 'the next visit says the rest')
  })

  testWithStore(engine, 'if the host is unknown, the target is used instead', async (store) => {
    const { redirect_host: _, ...part } = redirect('one.example', 'shop.platform.example', NEWER)
    await ingest(store, [seen('one.example', 1, null, part)])
    assert.equal((await run(store, OLD)).changed, 1)
    assert.deepEqual(await sources(store, 'platform.example'), ['one.example'])
  })

  testWithStore(engine, 'a stopped run continues where it was, unless the list has changed', async (store) => {
    const names = Array.from({ length: 2500 }, (_, index) => `n${index}.example`)
    await ingest(
      store,
      names.map((each) => moved(each, 'shop.platform.example')),
    )
    const stop = new AbortController()
    const options = { list: 'newer', registrableOf: NEWER, signal: stop.signal, onProgress: () => stop.abort() }
    const first = await retargetAll(store, options)
    assert.deepEqual([first.done, first.checked, first.changed], [false, 1000, 1000])
    const second = await run(store)
    assert.deepEqual([second.done, second.checked, second.changed], [true, 2500, 2500])
    assert.notEqual(second.resumedAt, null)
    assert.equal(await store.maintenance.progress('retarget'), null)
    await store.maintenance.saveProgress(
      'retarget',
      JSON.stringify({ list: 'older', after: 'n1.example', checked: 9, changed: 9 }),
    )
    assert.deepEqual(await run(store), { checked: 2500, changed: 0, done: true, resumedAt: null })
  })

  testWithStore(engine, 'concurrent writes are not overwritten', async (store, opened) => {
    const other = await opened.another()
    await ingest(store, [moved('one.example', 'shop.platform.example'), moved('two.example', 'shop.platform.example')])
    let isWritten = false
    const frontier: Store['observations'] = {
      ...store.observations,
      async currentFacts(names) {
        const found = await store.observations.currentFacts(names)
        if (!isWritten) await ingest(other, [moved('one.example', 'www.other.example', 2)])
        isWritten = true
        return found
      },
    }
    assert.equal((await run({ ...store, observations: frontier })).changed, 1)
    assert.deepEqual(await sources(store, 'other.example'), ['one.example'])
    assert.deepEqual(await sources(store, 'shop.platform.example'), ['two.example'])
  })
}
