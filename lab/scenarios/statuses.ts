/** Statuses of the start page, and what each shows about a website. */

import { MEADOW } from '../hosts.ts'
import { type LabRow, row } from '../lab-row.ts'
import { everywhere, html, page, reply } from '../site.ts'

const WORDS = html('A word from the server.')

/** A page with this status. Only a 2xx page is read. */
function status(code: number, has_website: boolean, shows: string): LabRow {
  return row(`status-${code}.example`, shows, {
    at: [MEADOW],
    site: everywhere(reply(code, WORDS)),
    web: { has_website },
  })
}

export const STATUSES: readonly LabRow[] = [
  row('status-200.example', 'A page as it should be.', {
    at: [MEADOW],
    site: everywhere(page('A word from the server.')),
    web: { text: 'A word from the server.' },
  }),
  row('status-204.example', 'No content is a website without text.', {
    at: [MEADOW],
    site: everywhere({ status: 204, headers: {}, body: '' }),
    web: {},
  }),
  status(401, true, 'A website that requires a password.'),
  status(403, true, 'A website that denies access.'),
  status(404, false, 'No start page: no website.'),
  status(410, false, 'A removed start page.'),
  status(429, true, 'A website that limits requests.'),
  status(451, false, 'A start page that is blocked for legal reasons.'),
  status(500, false, 'A server that fails.'),
  status(502, false, 'A gateway without a server.'),
  status(503, false, 'A server that is overloaded.'),
  status(304, false, 'Not modified, although the request had no condition: a 3xx without Location.'),
  status(300, false, 'Several choices, and no Location.'),
]
