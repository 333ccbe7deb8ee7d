/** A block of code with a button that copies it, and several variants of it behind tabs. */

import { useState } from 'preact/hooks'
import { CopyButton } from './button.tsx'

export function CodeBlock({ code, what }: { code: string; what: string }) {
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section class="code-box" tabIndex={0} aria-label={what}>
        <pre>
          <code>{code}</code>
        </pre>
      </section>
      <CopyButton text={code} what={what} />
    </div>
  )
}

/** `variants`: name and code, such as `curl`. */
export function CodeVariants({ variants }: { variants: readonly (readonly [name: string, code: string])[] }) {
  const [shown, setShown] = useState(0)
  const [name, code] = variants[shown]!
  return (
    <div class="code-variants">
      <fieldset class="segments">
        <legend class="hidden">Language</legend>
        {variants.map(([each], index) => (
          <button key={each} type="button" aria-pressed={index === shown} onClick={() => setShown(index)}>
            {each}
          </button>
        ))}
      </fieldset>
      <CodeBlock code={code} what={`the ${name} code`} />
    </div>
  )
}
