/** Whether the long form of the tests runs: DOMAINDEX_TEST_LONG=1. The short form checks the same with fewer cases. */

export const isLong = process.env.DOMAINDEX_TEST_LONG === '1'

/** The number of cases: of the short form, or of the long one. */
export function inForm(short: number, long: number): number {
  return isLong ? long : short
}
