/** Second opinions: a name that one server denies is missing only where another server says so too. */

import type { RecordType } from '../words/record.ts'
import type { Lines, Told } from './dns-lines.ts'

type Opinion = ReturnType<Lines['askOthers']>

export class SecondOpinions {
  readonly #lines: Lines
  /** By host, while questions about it are under way: how many, and what a second server makes of it. */
  readonly #hosts = new Map<string, { asking: number; opinion: Opinion | null }>()

  constructor(lines: Lines) {
    this.#lines = lines
  }

  /** From now until `leave` one second question is enough for all types of the host. */
  enter(host: string): void {
    const known = this.#hosts.get(host)
    if (known === undefined) this.#hosts.set(host, { asking: 1, opinion: null })
    else known.asking++
  }

  leave(host: string): void {
    const known = this.#hosts.get(host)
    if (known !== undefined && --known.asking === 0) this.#hosts.delete(host)
  }

  /**
   * What holds where `first` says that the host is not there. For all types another server is asked once, for A: if it
   * says so too, the host is missing. Otherwise it is asked for this very type, as there are servers that deny a host of
   * which they lack one type. Where two disagree, that holds which a third one says too; null where there is none.
   */
  async settle(host: string, type: RecordType, first: Told): Promise<Told['said'] | null> {
    const shared = await this.#share(host, first)
    if (isDenial(shared)) return first.said
    const second = type === 'A' || 'failures' in shared ? shared : await this.#lines.askOthers(host, type, [first])
    if (isDenial(second)) return first.said
    if ('failures' in second) return null
    this.#lines.disagreements++
    const third = await this.#lines.askOthers(host, type, [first, second])
    if ('failures' in third || third.line === first.line) return null
    return third.said
  }

  #share(host: string, first: Told): Opinion {
    const ask = () => this.#lines.askOthers(host, 'A', [first])
    const known = this.#hosts.get(host)
    if (known === undefined) return ask()
    known.opinion ??= ask()
    return known.opinion
  }
}

function isDenial(told: Awaited<Opinion>): boolean {
  return 'said' in told && told.said.outcome === 'nxdomain'
}
