/** The pages of operators: accounts, crawl and jobs, usage, and the audit log. The server refuses everybody else. */

import { OPERATOR_TABS, operatedAccount } from '../../client/paths.ts'
import { accountOf, session } from '../../client/session.ts'
import { useSignal } from '../../client/signal.ts'
import { EmptyState } from '../../parts/notice.tsx'
import { OperatedAccountPage } from './account.tsx'
import { AccountsPage } from './accounts.tsx'
import { AuditPage } from './audit.tsx'
import { OperationPage } from './operation.tsx'
import { UsageOfAllPage } from './usage-of-all.tsx'

export function OperatorArea({ path }: { path: string }) {
  const account = accountOf(useSignal(session))
  const [current, title] = OPERATOR_TABS.find(([href]) => href === path) ?? OPERATOR_TABS[0]
  return (
    <>
      <header class="subject">
        <h1>{title}</h1>
        <nav class="tabs" aria-label="Operator">
          {OPERATOR_TABS.map(([href, text]) => (
            <a key={href} href={href} aria-current={href === current ? 'page' : undefined}>
              {text}
            </a>
          ))}
        </nav>
      </header>
      {account?.role === 'admin' ? (
        <OperatorView path={path} />
      ) : (
        <EmptyState title="This page is for operators">Your account does not have the role admin.</EmptyState>
      )}
    </>
  )
}

function OperatorView({ path }: { path: string }) {
  const id = operatedAccount(path)
  if (id !== null) return <OperatedAccountPage key={id} id={id} />
  if (path === '/operator/crawl') return <OperationPage />
  if (path === '/operator/usage') return <UsageOfAllPage />
  return path === '/operator/audit' ? <AuditPage /> : <AccountsPage />
}
