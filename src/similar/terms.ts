/** The terms of a start page: its words as hashes with their counts, and a digest of the text. */

/** `digest`: 16 hex digits. `counts`: pairs (hash, count) of 32-bit numbers, ascending by hash. */
export type Terms = { digest: string; counts: Uint32Array }
