/** The names of the bench and what becomes of questions about them: nineteen of twenty are healthy. */

/** `silent`: its servers never answer, so that whoever asks for it hears SERVFAIL late. */
export type Fate = 'healthy' | 'servfail' | 'refused' | 'silent'

/** A name of one run, under a suffix that says whether there are silent ones; no run shares names with another one, so that no cache helps. */
export function nameAt(run: number, index: number, hasSilent = true): string {
  return `n${index}-r${run}.${hasSilent ? 'zz' : 'yy'}`
}

/** By the number of the name: of a hundred, three fail, one is refused and one is silent. */
export function fateOf(host: string): Fate {
  const index = Number(/^n(\d+)-/.exec(host)?.[1] ?? 50)
  const place = (index * 37) % 100
  if (place < 3) return 'servfail'
  if (place === 3) return 'refused'
  if (place === 4) return host.endsWith('.zz') ? 'silent' : 'servfail'
  return 'healthy'
}
