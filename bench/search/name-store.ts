/** The names of a store for the benches of searches: made up, or drawn from the sequences of characters in a list. */

import { readFileSync } from 'node:fs'
import { withInverseMaintenance } from '../../src/inverse/maintainer.ts'
import { addNames } from '../../src/registrations/add-names.ts'
import { SYSTEM_CLOCK } from '../../src/server/system-clock.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { type RandomSource, randomInt, seededRandom } from '../world/random.ts'
import { domainNameAt } from '../world/world.ts'

/** The options of a bench that say which names it has. */
export const NAME_OPTIONS = { names: '1000000', list: '', seed: '1', folder: '' }

/** `count` names by their number; some are equal. */
export type NameSource = { count: number; nameAt: (index: number) => DomainName }

const BATCH = 100_000
/** Characters that decide about the next one. */
const CONTEXT = 3
const START = '\n'.repeat(CONTEXT)

export function nameSource(options: Record<keyof typeof NAME_OPTIONS, string>): NameSource & { seed: number } {
  const [count, seed] = [Number(options.names), Number(options.seed)]
  const nameAt =
    options.list === ''
      ? (index: number) => domainNameAt({ seed, names: count, text: false }, index)
      : modelOf(options.list, seed)
  return { count, seed, nameAt }
}

/** Adds the names to a store, as an import of a list does, which merges runs if they are many. */
export async function addNamesUpTo(store: Store, source: NameSource): Promise<void> {
  const { signal } = new AbortController()
  const indexing = { store, holder: 'bench', clock: SYSTEM_CLOCK, reporter: { progress() {} } }
  await withInverseMaintenance(indexing, signal, (keepUp) =>
    addNames(batches(source), { insertsUnknown: true, makesDue: false }, { store, signal, onAdded() {}, keepUp }),
  )
}

async function* batches({ count, nameAt }: NameSource): AsyncGenerator<DomainName[]> {
  for (let from = 0; from < count; from += BATCH) {
    const names = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => nameAt(from + at))
    yield [...new Set(names)]
  }
}

/** The names whose characters follow each other as in a list, by their number. */
function modelOf(path: string, seed: number): (index: number) => DomainName {
  const following = new Map<string, string>()
  for (const line of readFileSync(path, 'latin1').split('\n').slice(0, 300_000)) {
    const text = `${START}${line}\n`
    for (let at = CONTEXT; at < text.length; at++) {
      const context = text.slice(at - CONTEXT, at)
      const known = following.get(context) ?? ''
      if (known.length < 2_000) following.set(context, known + text[at])
    }
  }
  return (index) => {
    for (let attempt = 0; ; attempt++) {
      const name = drawName(following, seededRandom(seed, index, attempt))
      if (/^[a-z0-9-]{2,63}(\.[a-z0-9-]{2,20}){1,3}$/.test(name)) return name as DomainName
    }
  }
}

function drawName(following: ReadonlyMap<string, string>, random: RandomSource): string {
  let text = START
  for (;;) {
    const choices = following.get(text.slice(-CONTEXT))!
    const next = choices[randomInt(random, choices.length)]!
    if (next === '\n' || text.length > 80) return text.slice(CONTEXT)
    text += next
  }
}
