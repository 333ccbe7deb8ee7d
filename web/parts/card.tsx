/** Cards, badges and lists of facts. */

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

type CardProps = {
  title: string
  children: ComponentChildren
  /** What is shown at the end of the title's line. */
  aside?: ComponentChildren
  className?: string
}

export function Card({ title, aside, className = '', children }: CardProps) {
  const id = useId()
  return (
    <section class={`card ${className}`} aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div class="card-aside">{aside}</div>}
      </header>
      {children}
    </section>
  )
}

export type Tone = 'good' | 'bad' | 'warn' | 'plain' | 'accent'

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** Terms and their values, one line each. */
export function Facts({ rows }: { rows: readonly (readonly [term: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
