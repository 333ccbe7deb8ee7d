/** A bar that shows a part of a whole. */

type ProgressBarProps = { value: number; max: number; label: string }

export function ProgressBar({ value, max, label }: ProgressBarProps) {
  const share = max === 0 ? 1 : Math.min(1, Math.max(0, value / max))
  return (
    <svg
      class={`meter${share > 0.9 ? ' high' : ''}`}
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <rect class="meter-track" width="100" height="4" />
      <rect class="meter-value" width={100 * share} height="4" />
    </svg>
  )
}
