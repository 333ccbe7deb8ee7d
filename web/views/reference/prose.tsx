/** A text of the OpenAPI document: what stands in backticks is code. */

export function Prose({ text }: { text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
}
