/** A value that components subscribe to. */

import { useEffect, useState } from 'preact/hooks'

type Signal<Value> = {
  get(): Value
  set(value: Value): void
  subscribe(listener: (value: Value) => void): () => void
}

export function createSignal<Value>(first: Value): Signal<Value> {
  let current = first
  const listeners = new Set<(value: Value) => void>()
  return {
    get: () => current,
    set(value) {
      current = value
      for (const listener of [...listeners]) listener(value)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** The value of a signal. The component renders again when it changes. */
export function useSignal<Value>(signal: Signal<Value>): Value {
  const [value, setValue] = useState(signal.get())
  useEffect(() => {
    setValue(() => signal.get()) // it may have changed since the first rendering
    return signal.subscribe((next) => setValue(() => next))
  }, [signal])
  return value
}
