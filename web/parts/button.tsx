/** Buttons, links that look like buttons, and the button that copies a text. */

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icons.tsx'
import { announce } from './live-region.tsx'

type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger'

type ButtonProps = {
  children: ComponentChildren
  kind?: ButtonKind
  type?: 'button' | 'submit'
  /** Shows that the action runs, and ignores clicks. */
  isBusy?: boolean
  isSmall?: boolean
  disabled?: boolean
  label?: string
  onClick?: () => void
}

export function Button({ kind = 'plain', type = 'button', isBusy = false, isSmall, label, ...rest }: ButtonProps) {
  const { children, disabled = false, onClick } = rest
  return (
    <button
      class={`button ${kind}${isSmall ? ' small' : ''}`}
      type={type}
      aria-busy={isBusy}
      aria-label={label}
      disabled={disabled}
      onClick={isBusy ? undefined : onClick}
    >
      {isBusy && <span class="spinner" aria-hidden="true" />}
      {children}
    </button>
  )
}

export function LinkButton({
  href,
  kind = 'plain',
  children,
}: {
  href: string
  kind?: ButtonKind
  children: ComponentChildren
}) {
  return (
    <a class={`button ${kind}`} href={href}>
      {children}
    </a>
  )
}

/** Milliseconds for which the button confirms that it has copied. */
const CONFIRMATION_MS = 2_000

/** `what`: the copied thing, for screen readers, such as `the token`. */
export function CopyButton({ text, what, label = 'Copy' }: { text: string; what: string; label?: string }) {
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), CONFIRMATION_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async (): Promise<void> => {
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    setIsCopied(done)
    announce(done ? `Copied ${what}.` : 'The browser does not allow copying: select the text instead.')
  }
  return (
    <Button kind="quiet" isSmall label={`${label}: ${what}`} onClick={() => void copy()}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      {isCopied ? 'Copied' : label}
    </Button>
  )
}

type RowActionProps = {
  text: string
  /** What the button acts on, for screen readers, such as `the period from 2026-01-01`. */
  what: string
  isBusy: boolean
  onAct: () => void
}

/** The button of a table's row. */
export function RowAction({ text, what, isBusy, onAct }: RowActionProps) {
  return (
    <Button kind="quiet" isSmall isBusy={isBusy} label={`${text} ${what}`} onClick={onAct}>
      {text}
    </Button>
  )
}
