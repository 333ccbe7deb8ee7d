/** Makes a sorted run of what the changed names of one transaction add to the inverse index. */

import type { FactChanges } from '../../apply/change.ts'
import type { Block } from '../../inverse/entries/block.ts'
import { EventCollector } from '../../inverse/entries/event-collector.ts'
import { hostOfReversedLabels, nameSetKey, reversedHostOf } from '../../inverse/entries/value-key.ts'
import type { DomainName } from '../../values/domain-name.ts'

export class RunWriter {
  readonly #collector = new EventCollector()
  /** With their labels reversed. */
  readonly #hosts = new Set<string>()

  /** Adds the events of a name. */
  add(name: DomainName, { keys, events, isNewOwner }: FactChanges['inverse']): void {
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index]!
      this.#collector.add(key, name, events[index]!)
      const host = reversedHostOf(key)
      if (host !== null) this.#hosts.add(host)
    }
    if (!isNewOwner) return
    this.#collector.add(nameSetKey('ownerBelow', name), '', 0)
    this.#collector.add(nameSetKey('ownerStarting', name), '', 0)
  }

  /** The blocks of the run; none if nothing was added. */
  finish(): Block[] {
    for (const host of this.#hosts) this.#collector.add(nameSetKey('knownHost', hostOfReversedLabels(host)), '', 0)
    return this.#collector.count === 0 ? [] : this.#collector.pack()
  }
}
