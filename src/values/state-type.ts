/** What has a history of states: each record type, the verdict of the website, and the certificate. */

import type { RecordType } from './records/dns-record.ts'

/**
 * The types besides record types. The stored text of each state is JSON, a list of values as of a record type, from
 * which the inverse index derives its keys.
 */
export const FURTHER_STATE_TYPES = ['web', 'certificate'] as const
export type FurtherStateType = (typeof FURTHER_STATE_TYPES)[number]
export type StateType = RecordType | FurtherStateType

export function isFurtherType(type: StateType): type is FurtherStateType {
  return (FURTHER_STATE_TYPES as readonly string[]).includes(type)
}
