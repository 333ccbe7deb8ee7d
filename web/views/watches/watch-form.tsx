/** The form that creates a watch, with a preview of what it would have matched. */

import { useState } from 'preact/hooks'
import {
  type DifferenceType,
  KIND_PROPERTIES,
  thresholdOfKind,
  WATCH_KINDS,
  type WatchKind,
} from '../../../src/values/watch-kind.ts'
import { callServer } from '../../client/http.ts'
import { navigate } from '../../client/router.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { announce } from '../../parts/live-region.tsx'
import { FormError, fieldError, useForm } from '../account/form.tsx'
import { PreviewResult } from './preview-result.tsx'
import { type NewWatch, type Preview, TYPE_TEXTS } from './watches.ts'

const KIND_OPTIONS = WATCH_KINDS.map((kind) => [kind, KIND_PROPERTIES[kind].subject] as const)

type WatchFormProps = { kind: WatchKind; value: string; onCreated: () => void }

/** `kind` and `value`: what the fields have at first. */
export function WatchForm({ onCreated, ...first }: WatchFormProps) {
  const [kind, setKind] = useState(first.kind)
  const [value, setValue] = useState(first.value)
  const [threshold, setThreshold] = useState<string | null>(null)
  const [excluded, setExcluded] = useState<readonly DifferenceType[]>([])
  const [preview, setPreview] = useState<Preview | null>(null)
  const previewing = useForm()
  const creating = useForm()
  const { matches, examples, types } = KIND_PROPERTIES[kind]
  const bounds = thresholdOfKind(kind)
  const error = creating.error ?? previewing.error
  const watch = newWatch(kind, value, threshold, excluded)
  /** Another watch needs another preview. */
  const change = <Given,>(set: (given: Given) => void) => {
    return (given: Given): void => {
      set(given)
      setPreview(null)
    }
  }
  const chooseKind = (chosen: string): void => {
    setKind(chosen as WatchKind)
    setThreshold(null)
  }
  const loadPreview = (): void =>
    void previewing.run(async () => {
      const found = await callServer<Preview>('/watches/preview', { method: 'POST', body: watch })
      setPreview(found)
      announce(`The preview has ${found.result.length} changes.`)
    })
  const create = creating.onSubmit(async () => {
    await callServer('/watches', { method: 'POST', body: watch })
    announce('The watch is created.')
    setValue('')
    setPreview(null)
    navigate('/watches', { replace: true })
    onCreated()
  })
  return (
    <Card title="New watch">
      <form class="form" onSubmit={create}>
        <FormError error={error} />
        <div class="watch-fields">
          <Select label="Watch" value={kind} onValue={change(chooseKind)} options={KIND_OPTIONS} />
          <Field
            label="Value"
            name="value"
            value={value}
            onValue={change(setValue)}
            hint={`Such as ${examples.join(' or ')}. Matches ${matches}.`}
            error={fieldError(error, 'value')}
            input={{ required: true, autoComplete: 'off', autoCapitalize: 'none', spellcheck: false }}
          />
        </div>
        {bounds !== null && (
          <Field
            label={bounds.meaning}
            name="threshold"
            value={threshold ?? String(bounds.fallback)}
            onValue={change(setThreshold)}
            error={fieldError(error, 'threshold')}
            input={{ type: 'number', min: bounds.min, max: bounds.max, required: true }}
          />
        )}
        {types.length > 1 && <TypeBoxes types={types} excluded={excluded} onChange={change(setExcluded)} />}
        {preview !== null && <PreviewResult watch={watch} preview={preview} />}
        <div class="form-row">
          <Button kind="primary" type="submit" isBusy={creating.isBusy}>
            Create the watch
          </Button>
          {kind === 'text' ? (
            <span class="hint">Former texts are not kept, so this has no preview.</span>
          ) : (
            <Button onClick={loadPreview} isBusy={previewing.isBusy} disabled={value.trim() === ''}>
              Preview the last 30 days (1 call)
            </Button>
          )}
        </div>
      </form>
    </Card>
  )
}

/** All types are none in the request, so that the watch gets types of later releases too. `threshold` null: the default. */
function newWatch(
  kind: WatchKind,
  value: string,
  threshold: string | null,
  excluded: readonly DifferenceType[],
): NewWatch {
  const types = KIND_PROPERTIES[kind].types.filter((type) => !excluded.includes(type))
  const isLimited = types.length < KIND_PROPERTIES[kind].types.length
  return { kind, value, ...(isLimited && { types }), ...(threshold !== null && { threshold: Number(threshold) }) }
}

type TypeBoxesProps = {
  types: readonly DifferenceType[]
  excluded: readonly DifferenceType[]
  onChange: (excluded: readonly DifferenceType[]) => void
}

function TypeBoxes({ types, excluded, onChange }: TypeBoxesProps) {
  const toggle = (type: DifferenceType): void =>
    onChange(excluded.includes(type) ? excluded.filter((each) => each !== type) : [...excluded, type])
  return (
    <fieldset class="type-boxes">
      <legend>Changes</legend>
      {types.map((type) => (
        <label key={type}>
          <input type="checkbox" checked={!excluded.includes(type)} onChange={() => toggle(type)} /> {TYPE_TEXTS[type]}
        </label>
      ))}
    </fieldset>
  )
}
