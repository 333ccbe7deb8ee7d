/** Waits for work with a timeout. */

/** Resolves with the result of `work`, or with null after the given milliseconds. It leaves no timer. */
export async function withTimeout<Result>(work: Promise<Result>, milliseconds: number): Promise<Result | null> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, milliseconds, null).unref()
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
