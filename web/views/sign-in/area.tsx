/** The pages of people without a session: sign in, sign up, verify an address, reset a password. */

import { useEffect } from 'preact/hooks'
import { CallError, callServer } from '../../client/http.ts'
import { navigate, ownAddress, pageAddress } from '../../client/router.ts'
import { acceptSession, accountOf, loadSession, session } from '../../client/session.ts'
import { useSignal } from '../../client/signal.ts'
import type { SessionState } from '../../client/started-calls.ts'
import { ErrorBox, Loading } from '../../parts/notice.tsx'
import { useForm } from '../account/form.tsx'
import { codeOf, NewPasswordForm, ResetPage, SetupPage, SignInForm, SignInFrame, SignUpPage } from './forms.tsx'

export function SignInArea({ path }: { path: string }) {
  if (path === '/sign-up') return <SignUpPage />
  if (path === '/reset') return <ResetPage />
  if (path === '/setup') return <SetupPage />
  if (path === '/verify') return <VerifyPage />
  return <SignInPage />
}

function SignInPage() {
  const { query, hash } = useSignal(pageAddress)
  const state = useSignal(session)
  const isSignedIn = accountOf(state) !== null
  const next = ownAddress(query.get('next'))
  const hasCode = codeOf(hash) !== null
  useEffect(() => {
    if (isSignedIn) navigate(next, { replace: true })
  }, [isSignedIn, next])
  if (hasCode) return <OneTimeLink />
  if (state instanceof CallError) return <ErrorBox error={state} onRetry={() => void loadSession()} />
  return <SignInForm canSignUp={state?.signUp ?? false} />
}

/** Creates the account of a mail's link. Its owner chooses the password here. */
function VerifyPage() {
  const code = codeOf(useSignal(pageAddress).hash)
  return (
    <SignInFrame title="Choose a password">
      {code === null && <p>This address has no code. Open the link from the mail again.</p>}
      {code !== null && <NewPasswordForm code={code} path="/app/verify" next="/" />}
    </SignInFrame>
  )
}

/** Signs in by the code of a link. */
function OneTimeLink() {
  const { hash } = useSignal(pageAddress)
  const code = codeOf(hash)
  const { error, isBusy, run } = useForm()
  useEffect(() => {
    if (code === null) return
    void run(async () => {
      acceptSession(await callServer<SessionState>('/app/sign-in/link', { method: 'POST', body: { code } }))
      navigate('/', { replace: true })
    })
  }, [code, run])
  return (
    <SignInFrame title="Sign in">
      {isBusy && <Loading what="your session" />}
      {code === null && <p>This address has no code. Open the link from the mail or the terminal again.</p>}
      {error !== null && (
        <>
          <ErrorBox error={error} />
          <p>
            <a href="/sign-in">Sign in with your password</a>, or ask for a new link.
          </p>
        </>
      )}
    </SignInFrame>
  )
}
