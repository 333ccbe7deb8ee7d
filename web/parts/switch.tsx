/** A switch that is on or off. */

type SwitchProps = {
  label: string
  isOn: boolean
  onToggle: () => void
  /** The label is for screen readers only. */
  isLabelHidden?: boolean
  disabled?: boolean
}

export function Switch({ label, isOn, onToggle, isLabelHidden = false, disabled = false }: SwitchProps) {
  return (
    <label class="switch-label">
      <input
        class="switch"
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        checked={isOn}
        disabled={disabled}
        onChange={onToggle}
      />
      <span class={isLabelHidden ? 'hidden' : undefined}>{label}</span>
    </label>
  )
}
