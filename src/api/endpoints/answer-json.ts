/** The JSON of an answer that may be unknown. */

/** `"yes"` or `"no"`; `null` if the answer is not known. */
export function answerJson(answer: boolean | null): string {
  return answer === null ? 'null' : answer ? '"yes"' : '"no"'
}
