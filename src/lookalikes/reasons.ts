/** The reasons for which a name is a lookalike, and the score that they give. */

/**
 * The reasons of a label, the most telling first: how much it can be taken for the brand, from 0 to 100, and whether it
 * tells less in a short label, because short labels are like many others.
 */
export const LABEL_REASONS = {
  confusable: { weight: 95, isEdit: false, text: 'characters of other scripts that look the same (UTS 39)' },
  diacritic: { weight: 88, isEdit: false, text: 'letters with a diacritic, hook or stroke, or like a capital' },
  homoglyph: { weight: 85, isEdit: true, text: 'ASCII characters that look alike, such as `rn` for `m`, `0` for `o`' },
  subdomain_merged: { weight: 80, isEdit: false, text: 'the subdomain of the brand is part of the label' },
  suffix_merged: { weight: 80, isEdit: false, text: '`www` or a suffix such as `com` is part of the label' },
  hyphen: { weight: 80, isEdit: true, text: 'a hyphen more or less' },
  dot: { weight: 75, isEdit: true, text: 'a dot inside the label' },
  transposition: { weight: 75, isEdit: true, text: 'two neighbouring characters are exchanged' },
  repetition: { weight: 75, isEdit: true, text: 'a character is doubled, or a double one is single' },
  combined: { weight: 72, isEdit: false, text: 'a word such as `login` or `secure` before or after' },
  plural: { weight: 70, isEdit: true, text: 'an `s` more or less at the end' },
  keyboard: { weight: 70, isEdit: true, text: 'a neighbouring key was pressed, instead or in addition' },
  phonetic: { weight: 70, isEdit: true, text: 'letters that sound alike, such as `f` for `ph`' },
  homoglyphs: {
    weight: 68,
    isEdit: true,
    text: 'two kinds of ASCII characters are replaced by others that look alike',
  },
  omission: { weight: 65, isEdit: true, text: 'a character is missing' },
  vowel: { weight: 65, isEdit: true, text: 'another vowel' },
  bit_flip: { weight: 60, isEdit: true, text: 'one bit of a character differs, as after an error of memory' },
  insertion: { weight: 55, isEdit: true, text: 'one character more' },
  replacement: { weight: 50, isEdit: true, text: 'one other character' },
  distance_2: { weight: 40, isEdit: true, text: 'two such edits, in one half of a label of 9 characters or more' },
} as const satisfies Record<string, { weight: number; isEdit: boolean; text: string }>
export type LabelReason = keyof typeof LABEL_REASONS

/** The reasons of the rest of a name: the score of the brand's own label there, and what they take from that of another. */
export const PLACE_REASONS = {
  suffix: { weight: 90, less: 10, text: 'another suffix' },
  subdomain: { weight: 70, less: 25, text: 'the label is a subdomain of another domain' },
} as const
export type PlaceReason = keyof typeof PLACE_REASONS

/** The reason of names that have the label of the brand anywhere, and no other reason. */
export const CONTAINS = { weight: 10, text: 'the label of the brand is a part of the name' } as const

export type Reason = LabelReason | PlaceReason | 'contains'

/** All reasons in the order in which a row has them. */
export const REASONS = [
  ...(Object.keys(LABEL_REASONS) as LabelReason[]),
  ...(Object.keys(PLACE_REASONS) as PlaceReason[]),
  'contains',
] as const satisfies readonly Reason[]

/** What an edit loses in a label of one character. */
const SHORT_LABEL_LOSS = 60
/** What a label loses if characters outside ASCII are not the only difference. */
const SECOND_CHANGE_LOSS = 5
const MIN_SCORE = CONTAINS.weight + 1

/**
 * The score of a label. `length`: the characters of the brand's label. `isSecond`: characters outside ASCII stand for
 * some of its characters too.
 */
export function labelScore(reasons: readonly LabelReason[], length: number, isSecond: boolean): number {
  const scores = reasons.map((reason) => {
    const { weight, isEdit } = LABEL_REASONS[reason]
    return weight - (isEdit ? Math.round(SHORT_LABEL_LOSS / length) : 0)
  })
  return Math.max(...scores) - (isSecond ? SECOND_CHANGE_LOSS : 0)
}

/** The score of a name. `label`: that of its label, null for the brand's own. `place`: null for the brand's suffix. */
export function nameScore(label: number | null, place: PlaceReason | null): number {
  if (place === null) return Math.max(MIN_SCORE, label ?? 100)
  const { weight, less } = PLACE_REASONS[place]
  return Math.max(MIN_SCORE, label === null ? weight : label - less)
}

/** Sorts reasons as in REASONS, each once. */
export function sortedReasons<R extends Reason>(reasons: Iterable<R>): R[] {
  return [...new Set(reasons)].sort((a, b) => REASONS.indexOf(a) - REASONS.indexOf(b))
}
