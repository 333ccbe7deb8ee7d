/** The state of a form: whether it is being sent, and the error of the last attempt. */

import { useCallback, useState } from 'preact/hooks'
import { CallError } from '../../client/http.ts'

type FormState = {
  error: CallError | null
  isBusy: boolean
  /** Runs an action. Resolves to whether it succeeded. */
  run: (action: () => Promise<void>) => Promise<boolean>
}

export function useForm(): FormState {
  const [error, setError] = useState<CallError | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const run = useCallback(async (action: () => Promise<void>): Promise<boolean> => {
    setIsBusy(true)
    setError(null)
    try {
      await action()
      return true
    } catch (thrown) {
      if (!(thrown instanceof CallError)) throw thrown
      setError(thrown)
      return false
    } finally {
      setIsBusy(false)
    }
  }, [])
  return { error, isBusy, run }
}

/** The error text of one field. */
export function fieldError(error: CallError | null, field: string): string | null {
  return error?.field === field ? error.message : null
}
