/** Follows the chain of aliases (CNAME records) in one DNS answer. */

/** The maximum number of links that are followed. */
export const MAX_CNAME_LINKS = 16

/**
 * Follows `targets` (owner to target, hosts in the form of parseHostName) from a host to the end of its chain. The
 * chain ends at a host of `owners`, which have records, or at a host without an alias. `aliases` are the targets in
 * their order. If the chain is longer than MAX_CNAME_LINKS, they are one more than that. Returns null for a loop.
 */
export function followCnames(
  host: string,
  owners: ReadonlySet<string>,
  targets: ReadonlyMap<string, string>,
): { owner: string; aliases: string[] } | null {
  const aliases: string[] = []
  let owner = host
  for (let target = targets.get(owner); target !== undefined && !owners.has(owner); target = targets.get(owner)) {
    if (target === host || aliases.includes(target)) return null
    aliases.push(target)
    owner = target
    if (aliases.length > MAX_CNAME_LINKS) break
  }
  return { owner, aliases }
}
