/** Parts: the first of a table's key, by which it would be spread over machines. */

import { hash } from 'node:crypto'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { type IpAddress, packAddress } from '../../../values/ip-address.ts'

/** Of all rows of a name, and of those that redirect to it. */
export function partitionOfName(name: DomainName): number {
  return slotOf(name) >> 8
}

/** Of all rows of an address: the first byte of the SHA-256 of its packed bytes. */
export function partitionOfAddress(address: IpAddress): number {
  return partitionOfPackedAddress(packAddress(address))
}

export function partitionOfPackedAddress(address: Uint8Array): number {
  return hash('sha256', address, 'buffer')[0]!
}

/** The same in SQL, of an expression. */
export function addressPartitionSql(expression: string): string {
  return `get_byte(sha256(${expression}), 0)::smallint`
}
