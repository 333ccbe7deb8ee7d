/** What is wrong with a store, in words for the person who runs it. */

/** Names the thing and says what to do; shown without a stack. */
export class StoreFault extends Error {}
