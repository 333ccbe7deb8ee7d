/** The dialog that adds a webhook, and shows its secret once. */

import { useState } from 'preact/hooks'
import type { CreatedWebhook } from '../../../client/src/webhooks.ts'
import { callServer } from '../../client/http.ts'
import { Field, Select } from '../../parts/field.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { CreationDialog, fieldError, useForm } from '../account/form.tsx'
import { type Watch, watchText } from './watches.ts'

type WebhookDialogProps = { watches: readonly Watch[]; onCreated: () => void; onClose: () => void }

export function WebhookDialog({ watches, onCreated, onClose }: WebhookDialogProps) {
  const [url, setUrl] = useState('')
  const [watch, setWatch] = useState('')
  const [created, setCreated] = useState<CreatedWebhook | null>(null)
  const { error, isBusy, onSubmit } = useForm()
  const submit = onSubmit(async () => {
    const body = { url, watches: watch === '' ? null : [Number(watch)] }
    setCreated(await callServer('/webhooks', { method: 'POST', body }))
    onCreated()
  })
  if (created !== null)
    return (
      <SecretDialog
        title="The secret of the webhook"
        secret={created.secret}
        what="the secret"
        purpose={`The receiver at ${created.url} verifies signatures with it.`}
        onClose={onClose}
      />
    )
  const options = watches.map((each) => [String(each.id), watchText(each)] as const)
  return (
    <CreationDialog title="Add a webhook" error={error} isBusy={isBusy} onSubmit={submit} onClose={onClose}>
      <Field
        label="URL"
        name="url"
        value={url}
        onValue={setUrl}
        hint="It gets each event by POST, signed by the rules of Standard Webhooks."
        error={fieldError(error, 'url')}
        input={{ type: 'url', required: true, autoComplete: 'off', placeholder: 'https://' }}
      />
      <Select label="Events of" value={watch} onValue={setWatch} options={[['', 'All watches'], ...options]} />
    </CreationDialog>
  )
}
