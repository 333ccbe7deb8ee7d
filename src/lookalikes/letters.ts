/** What people and machines confuse: neighbouring keys, letters that sound or look alike, and words beside brands. */

/** The characters of a label. */
export const LABEL_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-'
export const VOWELS = 'aeiou'

/** The rows of QWERTY, QWERTZ and AZERTY. A key touches two of the row above it, in its own column and the next. */
const KEYBOARDS = [
  ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'],
  ['1234567890', 'qwertzuiop', 'asdfghjkl', 'yxcvbnm'],
  ['1234567890', 'azertyuiop', 'qsdfghjklm', 'wxcvbn'],
]
/** The steps to the neighbours of a key: rows down, columns to the right. */
const NEIGHBOURS = [
  [0, -1],
  [0, 1],
  [-1, 0],
  [-1, 1],
  [1, -1],
  [1, 0],
] as const

/** The neighbouring keys of each key, on any of the keyboards. */
export const KEYBOARD_NEIGHBOURS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Array.from(LABEL_CHARACTERS, (key) => [key, new Set(KEYBOARDS.flatMap((rows) => neighboursOf(key, rows)))]),
)

function neighboursOf(key: string, rows: readonly string[]): string[] {
  const row = rows.findIndex((keys) => keys.includes(key))
  const column = rows[row]?.indexOf(key) ?? -1
  return NEIGHBOURS.flatMap(([down, right]) => rows[row + down]?.[column + right] ?? [])
}

/** Texts that sound alike. */
export const PHONETIC_PAIRS = [
  ...[
    'c k',
    'c s',
    's z',
    'k q',
    'i y',
    'g j',
    'v w',
    'd t',
    'b p',
    'f v',
    'x z',
    'ph f',
    'ck k',
    'ck c',
    'x ks',
    'x cs',
  ],
  ...['qu kw', 'qu k', 'oo u', 'ee i', 'ea ee', 'ou u', 'ie y', 'ey y', 'gh g', 'th t', 'wh w', 'sh ch', 'tion shun'],
  ...['for 4', 'four 4', 'to 2', 'two 2', 'ate 8', 'eight 8', 'one 1', 'you u', 'are r', 'and n', 'x ex', 'z ze'],
].map((pair) => pair.split(' ') as [string, string])

/** ASCII texts that look alike. */
const GLYPH_PAIRS = [
  ...['0 o', '1 l', '1 i', 'l i', '2 z', '3 e', '3 8', '4 a', '5 s', '6 b', '6 9', '7 t', '8 b', '9 g', '9 q', 'b d'],
  ...['c e', 'g q', 'h b', 'i j', 'm n', 'n r', 'u v', 'u n', 'm rn', 'm nn', 'm rr', 'd cl', 'd dl', 'w vv', 'b lb'],
  ...['h lh', 'k lk', 'k ik', 'k lc', 'u ii', 'y ij', 'a ci', 'o cj'],
].map((pair) => pair.split(' ') as [string, string])

/** For each character, and each text that looks like another, the texts that it looks like. */
export const GLYPHS: ReadonlyMap<string, readonly string[]> = glyphTable()

function glyphTable(): Map<string, string[]> {
  const table = new Map<string, string[]>(Array.from(LABEL_CHARACTERS, (character) => [character, []]))
  for (const [a, b] of GLYPH_PAIRS) {
    table.set(a, [...(table.get(a) ?? []), b])
    table.set(b, [...(table.get(b) ?? []), a])
  }
  return table
}

/** Words that stand beside brands in names that ask for passwords, payments or downloads, or that sell. */
export const WORDS = [
  ...[
    'login',
    'logon',
    'signin',
    'sign',
    'secure',
    'security',
    'safe',
    'account',
    'accounts',
    'verify',
    'verification',
  ],
  ...[
    'auth',
    'sso',
    'id',
    'access',
    'confirm',
    'update',
    'support',
    'help',
    'helpdesk',
    'service',
    'services',
    'customer',
  ],
  ...['client', 'clients', 'care', 'contact', 'alert', 'alerts', 'pay', 'payment', 'payments', 'billing', 'invoice'],
  ...[
    'refund',
    'bank',
    'banking',
    'card',
    'wallet',
    'online',
    'web',
    'portal',
    'home',
    'app',
    'apps',
    'mobile',
    'mail',
  ],
  ...[
    'email',
    'webmail',
    'my',
    'the',
    'get',
    'go',
    'new',
    'team',
    'official',
    'store',
    'shop',
    'outlet',
    'sale',
    'deals',
  ],
  ...['promo', 'bonus', 'reward', 'rewards', 'gift', 'free', 'win', 'office', 'cloud', 'download', 'careers', 'jobs'],
  ...['news', 'info', 'blog', 'global', 'group', 'inc', 'us', 'uk', 'eu', 'usa', 'delivery', 'tracking', 'parcel'],
] as const
