/** The switch between the light and the dark colour scheme. The choice stays in this browser. */

import { useState } from 'preact/hooks'
import { Icon } from '../../parts/icons.tsx'
import { announce } from '../../parts/live-region.tsx'

type Scheme = 'light' | 'dark'

function currentScheme(): Scheme {
  const chosen = document.documentElement.dataset.scheme
  if (chosen === 'light' || chosen === 'dark') return chosen
  return window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

export function SchemeSwitch() {
  const [scheme, setScheme] = useState(currentScheme())
  const other = scheme === 'dark' ? 'light' : 'dark'
  const change = (): void => {
    document.documentElement.dataset.scheme = other
    setScheme(other)
    announce(`The colours are ${other} now.`)
    try {
      localStorage.setItem('domaindex-scheme', other)
    } catch {
      // storage is blocked: the choice lasts until the page is loaded again
    }
  }
  return (
    <button class="scheme-switch" type="button" aria-label={`Use ${other} colours`} onClick={change}>
      <Icon name={scheme === 'dark' ? 'sun' : 'moon'} />
    </button>
  )
}
