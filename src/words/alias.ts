// The chain of aliases (CNAME records) that one DNS answer shows.

/** Most links of a chain that are followed. */
export const MOST_ALIASES = 8

/**
 * Goes along `targets` (owner to target, hosts in the form of parseHost) from a host to one of `owners`, which have records,
 * or to one from which no alias leads on. `aliases` are the targets in their order; null where there are too many, as in a
 * loop.
 */
export function followAliases(
  host: string,
  owners: ReadonlySet<string>,
  targets: ReadonlyMap<string, string>,
): { owner: string; aliases: string[] } | null {
  const aliases: string[] = []
  let owner = host
  for (let target = targets.get(owner); target !== undefined && !owners.has(owner); target = targets.get(owner)) {
    if (aliases.length === MOST_ALIASES) return null
    aliases.push(target)
    owner = target
  }
  return { owner, aliases }
}
