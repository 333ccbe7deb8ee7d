// The chain of aliases (CNAME records) that one DNS answer shows.

/** Most links of a chain that are followed. */
export const MAX_CNAME_LINKS = 16

/**
 * Goes along `targets` (owner to target, hosts in the form of parseHost) from a host to one of `owners`, which have records,
 * or to one from which no alias leads on. `aliases` are the targets in their order, one more than MOST_ALIASES where the chain
 * goes on behind that; null for a loop.
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
