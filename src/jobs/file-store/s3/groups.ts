/** Runs many requests, some at a time. */

/** Requests that run at the same time. */
const GROUP_SIZE = 16

/** Applies a function to each item, GROUP_SIZE at a time, and returns the results in order. */
export async function inGroups<Item, Result>(
  items: readonly Item[],
  apply: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += GROUP_SIZE)
    results.push(...(await Promise.all(items.slice(at, at + GROUP_SIZE).map(apply))))
  return results
}
