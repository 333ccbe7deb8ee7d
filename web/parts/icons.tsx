/** Icons as inline SVG: 16 by 16, drawn in the colour of the text, hidden from screen readers. */

type IconName = keyof typeof PATHS

const PATHS = {
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Zm3.4 7.9 3.1 3.1',
  copy: 'M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z',
  check: 'm3 8.5 3.2 3.2L13 4.8',
  cross: 'm4 4 8 8m0-8-8 8',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.5v1m0 11v1m6.5-6.5h-1m-11 0h-1m11.1-4.6-.7.7m-7.8 7.8-.7.7m9.2 0-.7-.7M4.1 4.1l-.7-.7',
  moon: 'M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8Z',
  menu: 'M2.5 4.5h11m-11 3.5h11m-11 3.5h11',
  arrow: 'M3 8h10m-4-4 4 4-4 4',
  back: 'M10 3.5 5.5 8l4.5 4.5',
  forward: 'M6 3.5 10.5 8 6 12.5',
  lock: 'M4 7.5h8v6H4zm1.8 0V5a2.2 2.2 0 0 1 4.4 0v2.5',
  globe:
    'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm-6 6h12M8 2c2 1.8 2.6 3.8 2.6 6S10 12.2 8 14c-2-1.8-2.6-3.8-2.6-6S6 3.8 8 2Z',
  download: 'M8 2.5v7.5m-3.2-3 3.2 3.2 3.2-3.2M2.5 13.5h11',
  alert: 'M8 2.5 14 13.5H2zM8 6.5v3.2m0 1.6v.4',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm0 2.8V8l2.2 1.4',
  code: 'M5.5 4.5 2 8l3.5 3.5m5-7L14 8l-3.5 3.5',
  bell: 'M3.5 11.5h9c-1-1-1.2-2-1.2-4a3.3 3.3 0 0 0-6.6 0c0 2-.2 3-1.2 4Zm3 2h3',
  external: 'M6 3.5H3.5v9h9V10M9 3h4v4m0-4L7.5 8.5',
} as const

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  )
}

/** The mark of the project: three layers of observations. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
      <rect x="2.5" y="4" width="12" height="4" rx="2" />
      <rect x="6" y="10" width="15.5" height="4" rx="2" opacity=".65" />
      <rect x="2.5" y="16" width="8" height="4" rx="2" opacity=".4" />
    </svg>
  )
}
