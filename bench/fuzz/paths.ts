/** Made-up paths of requests: real ones with odd pieces put in, and runs of odd pieces. */

import type { Dice } from '../world/random.ts'

const REAL = [
  '/v1.0/lookup',
  '/v1.0/daily',
  '/docs',
  '/docs/static/swagger-ui.css',
  '/docs/static/',
  '/files/2026-11-19.txt.gz',
  '/files/',
  '/account/quota',
  '/openapi.json',
  '/crawler',
  '/healthz',
  '/',
]
const ODD = [
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

/** A path that begins with a slash (most of the time) and has no blank and no control character. */
export function oddPath(dice: Dice): string {
  let path = pick(dice, REAL)
  if (dice() < 0.3) path = '/'
  for (let pieces = 1 + Math.floor(dice() * 4); pieces > 0; pieces--) {
    const at = dice() < 0.5 ? path.length : Math.floor(dice() * path.length)
    const piece = dice() < 0.2 ? String.fromCharCode(33 + Math.floor(dice() * 94)) : pick(dice, ODD)
    path = path.slice(0, at) + piece + path.slice(at)
  }
  return path
}

function pick(dice: Dice, of: readonly string[]): string {
  return of[Math.floor(dice() * of.length)]!
}
