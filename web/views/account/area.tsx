/** The pages of the account: sessions, tokens, usage, plan and files. */

import { AccountPage } from './account-page.tsx'
import { FilesPage } from './files/files-page.tsx'
import { TokensPage } from './tokens.tsx'
import { UsagePage } from './usage/usage-page.tsx'

const TABS = [
  ['/account/tokens', 'Tokens'],
  ['/account/usage', 'Usage'],
  ['/account/files', 'Plan and files'],
  ['/account', 'Account'],
] as const

export function AccountArea({ path }: { path: string }) {
  const [, title] = TABS.find(([href]) => href === path)!
  return (
    <>
      <header class="subject">
        <h1>{title}</h1>
        <nav class="tabs" aria-label="Account">
          {TABS.map(([href, text]) => (
            <a key={href} href={href} aria-current={href === path ? 'page' : undefined}>
              {text}
            </a>
          ))}
        </nav>
      </header>
      <AccountView path={path} />
    </>
  )
}

function AccountView({ path }: { path: string }) {
  if (path === '/account/tokens') return <TokensPage />
  if (path === '/account/usage') return <UsagePage />
  if (path === '/account/files') return <FilesPage />
  return <AccountPage />
}
