/** The modules that are mutated, and the tests that should notice. */

/** `sources` and `tests`: patterns from the root. */
export type MutatedModule = { name: string; sources: readonly string[]; tests: readonly string[] }

export const MUTATED_MODULES: readonly MutatedModule[] = [
  {
    name: 'cursor',
    sources: ['src/api/signing/cursor.ts', 'src/api/signing/keyring.ts'],
    tests: ['test/api/signing/*.test.ts', 'test/spec/cursors/*.test.ts', 'test/spec/cursors.test.ts'],
  },
  {
    name: 'quota',
    sources: ['src/accounts/budget-arithmetic.ts', 'src/accounts/quota-lease-rules.ts'],
    tests: ['test/accounts/budget-arithmetic.test.ts', 'test/accounts/quota-lease-rules.test.ts'],
  },
  {
    name: 'periods',
    sources: ['src/accounts/period.ts'],
    tests: ['test/accounts/period.test.ts', 'test/accounts/plan.test.ts'],
  },
  {
    name: 'apply',
    sources: ['src/apply/{apply,draft,dns-state,web-state,resolution,next-probe}.ts'],
    tests: ['test/apply/*.test.ts'],
  },
  {
    name: 'spans',
    sources: ['src/inverse/entries/{block,byte-texts,merge,rotation,value-key}.ts'],
    tests: ['test/inverse/*.test.ts', 'test/inverse/entries/*.test.ts'],
  },
  { name: 'names', sources: ['src/values/domain-name.ts'], tests: ['test/values/domain-name.test.ts'] },
  {
    name: 'guard',
    sources: ['src/probe/guard.ts'],
    tests: ['test/probe/guard.test.ts', 'test/probe/guard-tricks.test.ts'],
  },
  {
    name: 'sessions',
    sources: ['src/accounts/session.ts'],
    tests: ['test/accounts/session.test.ts', 'test/app/session-authenticator.test.ts'],
  },
  {
    name: 'scoring of /similar',
    sources: [
      'src/similar/query/{cosine,score-accumulator,query-terms}.ts',
      'src/similar/text/{weights,term-vector}.ts',
    ],
    tests: [
      'test/similar/query/{cosine,query-terms,score-accumulator}.test.ts',
      'test/similar/text/{weights,term-vector}.test.ts',
    ],
  },
  {
    name: 'proofs of certificate logs',
    sources: ['src/fetch/ct/log/{merkle-tree,tree-head}.ts'],
    tests: ['test/fetch/ct/merkle-tree.test.ts', 'test/fetch/ct/tree-head.test.ts'],
  },
]
