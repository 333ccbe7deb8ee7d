/** /app/plan: what an account has, and what its endpoints need. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld, type Wanted } from '../spec/world.ts'
import { visit } from './sessions.ts'

type Plan = { endpoints: { name: string; allowed: boolean; needs: string }[] }

const world = await makeWorld()

async function planOf(wanted: Wanted) {
  const known = await world.account(wanted)
  return { known, plan: await (await visit(world, known.account)).read<Plan>('/app/plan') }
}

test('a free account sees its limits, and what the other endpoints need', async () => {
  const { plan } = await planOf({})
  assert.deepEqual(plan, {
    plan: 'free',
    base_plan: 'free',
    limits: { daily_calls: 100, page_rows: 1000, history_states: null },
    periods: [],
    addons: [],
    endpoints: [
      { name: 'lookup', allowed: true, needs: 'free' },
      { name: 'redirect', allowed: true, needs: 'free' },
      { name: 'reverseip', allowed: true, needs: 'free' },
      { name: 'dnshistory', allowed: false, needs: 'basic' },
      { name: 'daily', allowed: false, needs: 'basic' },
      { name: 'snapshot', allowed: false, needs: 'export' },
      { name: 'similar', allowed: true, needs: 'free' },
    ],
  })
})

test('a period raises the plan while it lasts, and a past one still opens /daily', async () => {
  const periods = ['basic:2026-01-01..2026-01-31', 'premium:2026-11-01..']
  const { plan } = await planOf({ periods, addons: ['export'] })
  assert.deepEqual(
    { ...plan, endpoints: [] },
    {
      plan: 'premium',
      base_plan: 'free',
      limits: { daily_calls: 250_000, page_rows: 50_000, history_states: 100 },
      periods: [
        { plan: 'basic', first: '2026-01-01', last: '2026-01-31' },
        { plan: 'premium', first: '2026-11-01', last: null },
      ],
      addons: ['export'],
      endpoints: [],
    },
  )
  const past = await planOf({ periods: ['basic:2026-01-01..2026-01-31'] })
  const allowed = (name: string) => past.plan.endpoints.find((each) => each.name === name)?.allowed
  assert.deepEqual([allowed('daily'), allowed('dnshistory')], [true, false])
})

for (const wanted of [
  {},
  { plan: 'basic' },
  { plan: 'premium', addons: ['export'] },
  { plan: 'local' },
  { periods: ['basic:2026-12-01..'] },
  { periods: ['basic:2026-01-01..2026-01-31'] },
] satisfies Wanted[])
  test(`what is allowed is what the endpoints answer: ${JSON.stringify(wanted)}`, async () => {
    const { plan, known } = await planOf(wanted)
    for (const { name, allowed } of plan.endpoints) {
      const seen = await world.ask(name, { token: known.token })
      const { error } = (seen.body as { result?: { error?: string } }).result ?? (seen.body as { error?: string })
      assert.equal(!['plan_required', 'addon_required'].includes(error ?? ''), allowed, `${name} ${error}`)
    }
  })
