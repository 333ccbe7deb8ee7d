/** The zone and the key of bench:axfr. */

import type { LabKey } from '../../lab/transfers/signature.ts'

export const BENCH_ZONE = 'bench.test'
export const BENCH_KEY: LabKey = { hash: 'sha256', name: 'bench', secret: Buffer.from('the secret of the bench') }
/** The server signs one in this many messages, as large servers do. */
export const SIGNS_ONE_IN = 100
