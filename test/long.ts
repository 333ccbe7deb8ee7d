/** Whether the long form of the tests runs: DOMAINDEX_TEST_LONG=1. The short form checks the same with fewer cases. */

export const isLong = process.env.DOMAINDEX_TEST_LONG === '1'
