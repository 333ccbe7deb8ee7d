/** The form that shows a domain or addresses as of another day. */

import { useState } from 'preact/hooks'
import { navigate } from '../../../client/router.ts'
import { Button } from '../../../parts/button.tsx'
import { Field } from '../../../parts/field.tsx'
import { formatDay } from '../../../parts/text/times.ts'

/** `path`: the address of the present. `day`: the one that is shown; null for the present. */
export function DateForm({ path, day = null }: { path: string; day?: string | null }) {
  const today = formatDay(new Date())
  const [value, setValue] = useState(day?.slice(0, 10) ?? '')
  const submit = (event: Event): void => {
    event.preventDefault()
    if (value !== '') navigate(`${path}?at=${value}`)
  }
  return (
    <form class="form-row" onSubmit={submit}>
      <Field
        label="As of the end of"
        name="at"
        value={value}
        onValue={setValue}
        hint="A day in UTC."
        input={{ type: 'date', max: today, required: true }}
      />
      <Button type="submit">Show (1 call)</Button>
      {day !== null && <a href={path}>Back to now</a>}
    </form>
  )
}
