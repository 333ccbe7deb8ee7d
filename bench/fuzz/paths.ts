/** Unusual request paths: real paths with unusual pieces inserted, and sequences of such pieces. */

import { type RandomSource, randomChoice } from '../world/random.ts'

const REAL_PATHS = [
  '/v1.0/lookup',
  '/v1.0/daily',
  '/docs',
  '/assets/main.js',
  '/assets/',
  '/files/2026-11-19.txt.gz',
  '/files/',
  '/account/quota',
  '/openapi.json',
  '/crawler',
  '/healthz',
  '/',
]
const UNUSUAL_PIECES = [
  '/../',
  '/..',
  '/./',
  '//',
  '%2e%2e',
  '%2e%2e%2f',
  '..%2f',
  '%2F',
  '\\',
  '%5c',
  '..\\',
  '%00',
  '%',
  '%z',
  '%ff',
  '%c0%ae',
  '%25%32%65',
  '%E2%80%AE',
  ';',
  ':',
  '*',
  '**',
  '?',
  '#',
  '?a=%',
  '&',
  '=',
  '~',
  '|',
  '{',
  '}',
  '^',
  '`',
  '"',
  '<',
  '>',
  '[',
  ']',
  '@',
  '+',
  '%20',
  '%0d%0a',
  '%09',
  'constructor',
  '__proto__',
  'hasOwnProperty',
  'null',
  'undefined',
  'http://x/',
  'a'.repeat(300),
  '%2e'.repeat(100),
  '/x'.repeat(100),
]

/** Returns a path without blanks and control characters. Most of the paths start with a slash. */
export function unusualPath(random: RandomSource): string {
  let path = randomChoice(random, REAL_PATHS)
  if (random() < 0.3) path = '/'
  for (let pieces = 1 + Math.floor(random() * 4); pieces > 0; pieces--) {
    const at = random() < 0.5 ? path.length : Math.floor(random() * path.length)
    const piece =
      random() < 0.2 ? String.fromCharCode(33 + Math.floor(random() * 94)) : randomChoice(random, UNUSUAL_PIECES)
    path = path.slice(0, at) + piece + path.slice(at)
  }
  return path
}
