/** The names of the bench and how queries for them end: nineteen of twenty are healthy. */

/** `silent`: the servers of the name never answer, so the client gets SERVFAIL late. */
export type NameBehaviour = 'healthy' | 'servfail' | 'refused' | 'silent'

/** The top-level domain of silent names, so that a resolver can be configured to use separate servers for them. */
export const SILENT = 'silent'
/** A second address of the same server, used only for silent names. */
export const SILENT_ADDRESS = '127.0.0.2'

/** Returns a name of one run. Runs share no names, so that caches do not help. */
export function resolverNameAt(run: number, index: number): string {
  const name = `n${index}-r${run}`
  return `${name}.${behaviourOfName(name) === 'silent' ? SILENT : 'zz'}`
}

/** Decides by the number of the name: of 100 names three fail, one is refused and one is silent. */
export function behaviourOfName(host: string): NameBehaviour {
  const index = Number(/^n(\d+)-/.exec(host)?.[1] ?? 50)
  const rest = (index * 37) % 100
  if (rest < 3) return 'servfail'
  if (rest === 3) return 'refused'
  if (rest === 4) return 'silent'
  return 'healthy'
}
