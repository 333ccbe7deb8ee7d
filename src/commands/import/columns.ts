/** A batch of prepared observations as columns: between threads they pass far quicker than objects, and leave less to collect. */

import type { Prepared } from '../../apply/prepare.ts'
import type { Name } from '../../words/name.ts'

/** `numbers` has observed_at, asked, dnsPrint and webPrint of each in turn. */
export type Columns = { names: Name[]; dns: (string | null)[]; web: (string | null)[]; numbers: Float64Array }

const NUMBERS = 4

/** Gathers at most `most` observations. */
export function columns(most: number) {
  const numbers = new Float64Array(most * NUMBERS)
  let names: Name[] = []
  let dns: (string | null)[] = []
  let web: (string | null)[] = []
  return {
    add(prepared: Prepared): void {
      const { name, observed_at, asked, dnsPrint, webPrint } = prepared
      numbers.set([observed_at, asked, dnsPrint, webPrint], names.length * NUMBERS)
      names.push(name)
      dns.push(prepared.dns)
      web.push(prepared.web)
    },
    /** Hands over what was gathered and begins anew. */
    empty(): Columns {
      const full = { names, dns, web, numbers: numbers.slice(0, names.length * NUMBERS) }
      names = []
      dns = []
      web = []
      return full
    },
  }
}

/** The observations again, in their order. */
export function rowsOf({ names, dns, web, numbers }: Columns): Prepared[] {
  return names.map((name, row) => {
    const at = row * NUMBERS
    return {
      name,
      observed_at: numbers[at]!,
      asked: numbers[at + 1]!,
      dns: dns[row]!,
      web: web[row]!,
      dnsPrint: numbers[at + 2]!,
      webPrint: numbers[at + 3]!,
    }
  })
}
