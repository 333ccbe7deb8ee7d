/** The URLs in a block of JSON-LD (schema.org): `sameAs` and `url` of its items. */

const LINK_KEYS = new Map([
  ['sameAs', 'sameas'],
  ['url', 'url'],
])
const MAX_JSON_VALUES = 20_000

/**
 * The strings at `sameAs` and `url` with their key in lower case, in the order of the block. Returns none for invalid
 * JSON.
 */
export function jsonLdLinks(block: string): { name: string; target: string }[] {
  const links: { name: string; target: string }[] = []
  const pending: { name: string; value: unknown }[] = [{ name: '', value: parseJsonLd(block) }]
  for (let count = 0; count < MAX_JSON_VALUES; count++) {
    const next = pending.pop()
    if (next === undefined) break
    const { name, value } = next
    if (typeof value === 'string') {
      if (name !== '') links.push({ name, target: value })
    } else if (Array.isArray(value)) {
      pending.push(
        ...value
          .slice(0, MAX_JSON_VALUES)
          .map((each: unknown) => ({ name, value: each }))
          .reverse(),
      )
    } else if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value).slice(0, MAX_JSON_VALUES)
      pending.push(...entries.map(([key, each]) => ({ name: LINK_KEYS.get(key) ?? '', value: each })).reverse())
    }
  }
  return links
}

/** Accepts a surrounding HTML comment or CDATA marker, as JSON-LD readers of browsers do. */
function parseJsonLd(block: string): unknown {
  const bare = block.replace(/^\s*(?:<!--|\/\/<!\[CDATA\[|<!\[CDATA\[)/, '').replace(/(?:-->|\/\/\]\]>|\]\]>)\s*$/, '')
  try {
    return JSON.parse(bare)
  } catch {
    return null
  }
}
