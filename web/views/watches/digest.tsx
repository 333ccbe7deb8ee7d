/** The setting that sends the events by mail, each hour or each day. */

import type { DigestResponse } from '../../../client/src/api-types.ts'
import { CallError, callServer } from '../../client/http.ts'
import { useFresh } from '../../client/loaded.ts'
import { session } from '../../client/session.ts'
import { useSignal } from '../../client/signal.ts'
import { Card } from '../../parts/card.tsx'
import { Select } from '../../parts/field.tsx'
import { announce } from '../../parts/live-region.tsx'
import { ErrorBox, LoadedView } from '../../parts/notice.tsx'
import { Ago } from '../../parts/time.tsx'
import { useForm } from '../account/form.tsx'

const PERIODS = [
  ['off', 'Never'],
  ['hourly', 'Each hour with events'],
  ['daily', 'Each day with events'],
] as const

export function Digest() {
  const { loaded, reload } = useFresh<DigestResponse>('/digest')
  const state = useSignal(session)
  const canSendMail = state !== null && !(state instanceof CallError) && state.signUp // sign-up needs mail too
  return (
    <Card title="Events by mail">
      <LoadedView loaded={loaded} what="the setting" onRetry={() => void reload()}>
        {(setting) =>
          canSendMail || setting.period !== 'off' ? (
            <DigestForm setting={setting} reload={reload} />
          ) : (
            <p class="hint">This service sends no mail: its operator has not set an SMTP server.</p>
          )
        }
      </LoadedView>
    </Card>
  )
}

function DigestForm({
  setting: { period, email, next, last },
  reload,
}: {
  setting: DigestResponse
  reload: () => Promise<void>
}) {
  const { error, run } = useForm()
  const change = (chosen: string): void =>
    void run(async () => {
      await callServer('/digest', { method: 'PUT', body: { period: chosen } })
      announce(chosen === 'off' ? 'No mail is sent any more.' : `The mail is ${chosen} now.`)
      await reload()
    })
  return (
    <div class="form">
      {error !== null && <ErrorBox error={error} />}
      <div class="watch-fields">
        <Select label="Send a mail" value={period} onValue={change} options={PERIODS} />
      </div>
      <p class="hint">
        To {email}
        {next !== null && (
          <>
            , the next one <Ago at={next} />
          </>
        )}
        {last !== null && (
          <>
            , the last one <Ago at={last} />
          </>
        )}
        .
      </p>
    </div>
  )
}
