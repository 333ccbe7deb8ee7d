/** The button of a table's row. */

import { Button } from '../../parts/button.tsx'

type RowActionProps = {
  text: string
  /** What the button acts on, for screen readers, such as `the period from 2026-01-01`. */
  what: string
  isBusy: boolean
  onAct: () => void
}

export function RowAction({ text, what, isBusy, onAct }: RowActionProps) {
  return (
    <Button kind="quiet" isSmall isBusy={isBusy} label={`${text} ${what}`} onClick={onAct}>
      {text}
    </Button>
  )
}
