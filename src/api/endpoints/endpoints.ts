/** The list of the seven endpoints. */

import { daily } from './daily.ts'
import { dnshistory } from './dnshistory.ts'
import type { Endpoint } from './endpoint.ts'
import { lookup } from './lookup.ts'
import { redirect } from './redirect.ts'
import { reverseip } from './reverseip.ts'
import { similar } from './similar.ts'
import { snapshot } from './snapshot.ts'

export const ENDPOINTS: readonly Endpoint[] = [lookup, redirect, reverseip, dnshistory, daily, snapshot, similar]
