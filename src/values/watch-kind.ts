/** The kinds of watches, the one list of them: what each matches, and which differences its events can have. */

/** The types of a difference. A watch can be limited to some of them. */
export const DIFFERENCE_TYPES = ['new', 'status', 'records', 'website', 'redirect', 'certificate', 'text'] as const
export type DifferenceType = (typeof DIFFERENCE_TYPES)[number]

/** The number that a change must reach to match a watch. `meaning`: what it counts. `fallback`: if none is sent. */
type Threshold = { meaning: string; fallback: number; min: number; max: number }

/**
 * `subject`: what is watched, for a list of kinds. `examples`: values. `matches`: which changes. `types`: the differences
 * that an event of the kind can have. `threshold`: missing if the kind has none. `weight`: how many watches of the plan
 * one of the kind uses; missing for 1.
 */
type KindProperties = {
  threshold?: Threshold
  weight?: number
  subject: string
  examples: readonly string[]
  matches: string
  types: readonly DifferenceType[]
}

/** The differences of a name, but for the text of its start page, which only a watch of the kind text compares. */
const OF_NAME: readonly DifferenceType[] = DIFFERENCE_TYPES.filter((type) => type !== 'text')

export const KIND_PROPERTIES = {
  name: {
    subject: 'A name',
    examples: ['example.com'],
    matches: 'each change of this name',
    types: OF_NAME,
  },
  suffix: {
    subject: 'All names below a suffix',
    examples: ['example.com', 'shop'],
    matches: 'each change of the names below it, also new ones',
    types: OF_NAME,
  },
  pattern: {
    subject: 'Names that match a pattern',
    examples: ['*paypal*', '/paypa[l1]/'],
    matches: 'each change of names that match; three fixed characters in a row are needed',
    types: OF_NAME,
  },
  address: {
    subject: 'An address or a network',
    examples: ['192.0.2.1', '192.0.2.0/24'],
    matches: 'names whose addresses in it change: they come, leave, or move within a network',
    types: ['records'],
  },
  nameserver: {
    subject: 'A name server',
    examples: ['example.com'],
    matches: 'names whose NS records with this host, or one below it, change',
    types: ['records'],
  },
  mailserver: {
    subject: 'A mail host',
    examples: ['example.com'],
    matches: 'names whose MX records with this host, or one below it, change, also in their priority',
    types: ['records'],
  },
  redirect: {
    subject: 'A redirect target',
    examples: ['example.com'],
    matches: 'names that begin or stop redirecting to this host, or to one below it',
    types: ['redirect'],
  },
  certificate: {
    subject: 'The names in certificates',
    examples: ['example.com'],
    matches:
      'certificates that name this host, its wildcard, or a host below it: presented by a name, or published by a log',
    types: ['certificate'],
  },
  text: {
    subject: 'The text of a start page',
    examples: ['example.com'],
    matches: 'the text of the start page of this name, if enough of its words changed',
    types: ['text'],
    threshold: { meaning: 'Words that differ, in percent', fallback: 20, min: 1, max: 100 },
  },
  lookalikes: {
    subject: 'Names that imitate a domain',
    examples: ['example.com'],
    matches: 'each change of names that look like this domain, also new ones',
    types: OF_NAME,
    // names at the edit distance 2 have lower scores, and the index of watches does not find them
    threshold: { meaning: 'Minimum score', fallback: 60, min: 40, max: 100 },
    weight: 10, // a writer keeps some hundred keys of each in memory
  },
} as const satisfies Record<string, KindProperties>

export type WatchKind = keyof typeof KIND_PROPERTIES
export const WATCH_KINDS = Object.keys(KIND_PROPERTIES) as WatchKind[]

/** The threshold of a kind; null if it has none. */
export function thresholdOfKind(kind: WatchKind): Threshold | null {
  const properties: KindProperties = KIND_PROPERTIES[kind]
  return properties.threshold ?? null
}

export const THRESHOLD_KINDS = WATCH_KINDS.filter((kind) => thresholdOfKind(kind) !== null)

/** The differences that events of a kind can have. */
export function typesOfKind(kind: WatchKind): readonly DifferenceType[] {
  return KIND_PROPERTIES[kind].types
}

/** How many watches of the plan one of a kind uses. */
export function watchWeight(kind: WatchKind): number {
  const properties: KindProperties = KIND_PROPERTIES[kind]
  return properties.weight ?? 1
}

/** The kinds of which a watch uses more than one of the plan, such as `One of lookalikes counts as 10.` */
export const WEIGHTS_TEXT = WATCH_KINDS.filter((kind) => watchWeight(kind) > 1)
  .map((kind) => `One of ${kind} counts as ${watchWeight(kind)}.`)
  .join(' ')

/** The thresholds of the kinds, for descriptions: `of text: words that differ, in percent, from 1 to 100 (default: 20)`. */
export const THRESHOLDS_TEXT = THRESHOLD_KINDS.map((kind) => {
  const { meaning, min, max, fallback } = thresholdOfKind(kind)!
  return `of ${kind}: ${meaning[0]!.toLowerCase()}${meaning.slice(1)}, from ${min} to ${max} (default: ${fallback})`
}).join('; ')
