/** The dialog of a secret that the server sends only once. */

import type { ComponentChildren } from 'preact'
import { Button, CopyButton } from './button.tsx'
import { Dialog } from './dialog.tsx'

type SecretDialogProps = {
  title: string
  secret: string
  /** What the secret is, such as "the token". */
  what: string
  /** What it is for, before the request to copy it. */
  purpose?: string
  onClose: () => void
  /** What follows the secret. */
  children?: ComponentChildren
}

export function SecretDialog({ title, secret, what, purpose = '', onClose, children }: SecretDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="form">
        <p class="wrap">{purpose} Copy it now: it is shown only this once.</p>
        <div class="secret">
          <code class="wrap">{secret}</code>
          <CopyButton text={secret} what={what} />
        </div>
        {children}
        <div class="form-row">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
