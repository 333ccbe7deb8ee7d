/** Makes sorted runs of what changed names add to the inverse index, one after another. */

import type { Block } from '../../inverse/entries/block.ts'
import { EventCollector } from '../../inverse/entries/event-collector.ts'
import type { SetChange } from '../../inverse/entries/record-events.ts'
import { namedHostKeys, nameSetKey } from '../../inverse/entries/value-key.ts'
import type { Certificate } from '../../values/certificate/certificate.ts'
import type { DomainName } from '../../values/domain-name.ts'

/** The rows of `metadata` that say how far an older or copied store is filled in. */
export type FillName = 'inverse_fill' | 'certificate_fill' | 'name_fill'

/** Known names whose keys are added in the time of one name with its history. */
export const KNOWN_NAMES_PER_NAME = 8

export class RunWriter {
  readonly #collector = new EventCollector()

  /** Adds a name that was not known, once. */
  addName(name: DomainName): void {
    this.#collector.addName(name)
  }

  /** Adds the changes of a name, once. */
  addChanges(name: DomainName, changes: readonly SetChange[]): void {
    for (const change of changes) this.#collector.addChange(name, change)
  }

  /** Adds events of entries of a name. `entries`: by their keys. */
  addEntries(name: DomainName, entries: ReadonlyMap<string, readonly number[]>): void {
    for (const [key, events] of entries)
      for (const event of events) this.#collector.add(key.slice(0, key.length - name.length), name, event)
  }

  /** Adds the names of a certificate, once. */
  addCertificate(certificate: Certificate): void {
    for (const key of namedHostKeys(certificate)) this.#collector.addToSet(key)
  }

  /** Adds a host that records name, once. Their changes add it too. */
  addKnownHost(host: string): void {
    this.#collector.addToSet(nameSetKey('knownHost', host))
  }

  /** The blocks of the run of all names since the last call; none if nothing was added. */
  finish(): Block[] {
    return this.#collector.count === 0 ? [] : this.#collector.pack()
  }
}
