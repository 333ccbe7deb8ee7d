/** The tables of a store, for tests and benches that empty them. */

/** The tables that observations fill, on every engine. */
export const FACT_TABLES = [
  'crawl_state',
  'facts',
  'dns_state',
  'dns_interruption',
  'address_first_seen',
  'presence',
  'address_count',
  'redirect',
  'redirect_count',
  'certificate',
  'pending_page',
  'inverse_run',
  'inverse_block',
] as const
