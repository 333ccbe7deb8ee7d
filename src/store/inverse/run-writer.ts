/** Makes sorted runs of what changed names add to the inverse index, one after another. */

import type { InverseChanges } from '../../apply/change.ts'
import type { Block } from '../../inverse/entries/block.ts'
import { EventCollector } from '../../inverse/entries/event-collector.ts'
import { namedHostKeys, nameSetKey } from '../../inverse/entries/value-key.ts'
import type { Certificate } from '../../values/certificate/certificate.ts'
import type { DomainName } from '../../values/domain-name.ts'

export class RunWriter {
  readonly #collector = new EventCollector()

  /** Adds the changes of a name, once. */
  add(name: DomainName, { sets, isNewOwner }: InverseChanges): void {
    for (const change of sets) this.#collector.addChange(name, change)
    if (!isNewOwner) return
    this.#collector.addToSet(nameSetKey('ownerBelow', name))
    this.#collector.addToSet(nameSetKey('ownerStarting', name))
  }

  /** Adds the names of a certificate, once. */
  addCertificate(certificate: Certificate): void {
    for (const key of namedHostKeys(certificate)) this.#collector.addToSet(key)
  }

  /** The blocks of the run of all names since the last call; none if nothing was added. */
  finish(): Block[] {
    return this.#collector.count === 0 ? [] : this.#collector.pack()
  }
}
