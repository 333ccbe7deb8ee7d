/** Makes a sorted run of what the changed names of one transaction add to the inverse index. */

import type { FactChanges } from '../../apply/change.ts'
import type { Block } from '../../inverse/entries/block.ts'
import { EventCollector } from '../../inverse/entries/event-collector.ts'
import { hostOfValueKey, nameSetKey, namesHost } from '../../inverse/entries/value-key.ts'
import type { DomainName } from '../../values/domain-name.ts'

export class RunWriter {
  readonly #collector = new EventCollector()
  /** The value keys that name a host. */
  readonly #hostKeys = new Set<string>()

  /** Adds the events of a name. */
  add(name: DomainName, { keys, events, isNewOwner }: FactChanges['inverse']): void {
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!
      this.#collector.add(key, name, events[index]!)
      if (namesHost(key)) this.#hostKeys.add(key)
    }
    if (!isNewOwner) return
    this.#collector.addToSet(nameSetKey('ownerBelow', name))
    this.#collector.addToSet(nameSetKey('ownerStarting', name))
  }

  /** The blocks of the run; none if nothing was added. */
  finish(): Block[] {
    for (const host of new Set([...this.#hostKeys].map(hostOfValueKey)))
      this.#collector.addToSet(nameSetKey('knownHost', host))
    return this.#collector.count === 0 ? [] : this.#collector.pack()
  }
}
