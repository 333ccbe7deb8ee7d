/** What happens to a finished file that has a forgotten name. */

export const FORGOTTEN_FILES = ['rebuild', 'withdraw', 'keep'] as const
export type ForgottenFiles = (typeof FORGOTTEN_FILES)[number]
