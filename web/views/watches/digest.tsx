/** The setting that sends the events by mail, each hour or each day. */

import { callServer } from '../../client/http.ts'
import { useFresh } from '../../client/loaded.ts'
import { Card } from '../../parts/card.tsx'
import { Select } from '../../parts/field.tsx'
import { announce } from '../../parts/live-region.tsx'
import { ErrorBox, LoadedView } from '../../parts/notice.tsx'
import { Ago } from '../../parts/time.tsx'
import { useForm } from '../account/form.tsx'

/** `email`: that of the account. `next`: when the next mail is due; null: none. */
type DigestSetting = { period: 'off' | 'hourly' | 'daily'; email: string; next: string | null; last: string | null }

const PERIODS = [
  ['off', 'Never'],
  ['hourly', 'Each hour with events'],
  ['daily', 'Each day with events'],
] as const

export function Digest() {
  const { loaded, reload } = useFresh<DigestSetting>('/digest')
  return (
    <Card title="Events by mail">
      <LoadedView loaded={loaded} what="the setting" onRetry={() => void reload()}>
        {(setting) => <DigestForm setting={setting} reload={reload} />}
      </LoadedView>
    </Card>
  )
}

function DigestForm({
  setting: { period, email, next, last },
  reload,
}: {
  setting: DigestSetting
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
