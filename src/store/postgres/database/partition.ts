/** Partitions: the first column of each key, by which tables could be distributed over machines. */

import { hash } from 'node:crypto'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { type IpAddress, packAddress } from '../../../values/ip-address.ts'

/** The partition of all rows of a name, and of those that redirect to it. */
export function partitionOfName(name: DomainName): number {
  return slotOf(name) >> 8
}

/** The partition of all rows of an address: the first byte of the SHA-256 of its packed bytes. */
export function partitionOfAddress(address: IpAddress): number {
  return partitionOfPackedAddress(packAddress(address))
}

export function partitionOfPackedAddress(address: Uint8Array): number {
  return hash('sha256', address, 'buffer')[0]!
}

/** The same as an SQL expression. */
export function addressPartitionSql(expression: string): string {
  return `get_byte(sha256(${expression}), 0)::smallint`
}
