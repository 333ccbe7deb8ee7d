/** Numbers as text. */

/**
 * `12,345`, or `0.5`, with at most three decimals. A phone needs 70 ms for its first use of Intl, so counts and ages,
 * which most pages show, use none.
 */
export function formatCount(count: number): string {
  return String(Number(count.toFixed(3))).replace(/(?<!\.\d*)\d(?=(?:\d{3})+(?!\d))/g, '$&,')
}

/** `1 domain`, `12,345 domains`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

const SIZES = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
] as const

/** `4.2 MB`. */
export function formatBytes(bytes: number): string {
  const [unit, size] = SIZES.find(([, each]) => bytes >= each) ?? ['bytes', 1]
  return `${size === 1 ? bytes : (bytes / size).toFixed(1)} ${unit}`
}
