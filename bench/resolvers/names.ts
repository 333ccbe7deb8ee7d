/** The names of the bench and what becomes of questions about them: nineteen of twenty are healthy. */

/** `silent`: its servers never answer, so that whoever asks for it hears SERVFAIL late. */
export type Fate = 'healthy' | 'servfail' | 'refused' | 'silent'

/** The top-level domain of silent names, so that a resolver can be told that they have servers of their own. */
export const SILENT = 'silent'
/** Where the same server is met as the one of silent names alone. */
export const SILENT_ADDRESS = '127.0.0.2'

/** A name of one run; no run shares names with another one, so that no cache helps. */
export function nameAt(run: number, index: number): string {
  const name = `n${index}-r${run}`
  return `${name}.${fateOf(name) === 'silent' ? SILENT : 'zz'}`
}

/** By the number of the name: of a hundred, three fail, one is refused and one is silent. */
export function fateOf(host: string): Fate {
  const index = Number(/^n(\d+)-/.exec(host)?.[1] ?? 50)
  const place = (index * 37) % 100
  if (place < 3) return 'servfail'
  if (place === 3) return 'refused'
  if (place === 4) return 'silent'
  return 'healthy'
}
