/** Work that is waited for no longer than a time. */

/** Resolves with what `work` does, or with null after so many milliseconds; no timer is left behind. */
export async function withTimeout<Result>(work: Promise<Result>, milliseconds: number): Promise<Result | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, milliseconds, null).unref()
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
