/** The bounds above which a figure needs an operator, for `doctor`. deploy/monitoring/alerts.yml has the same. */

/** All in seconds. */
export const ALARM_LIMITS = {
  clockDifference: 2,
  similarLag: 300,
  webhookLag: 300,
  certificateLogLag: 21_600,
  dailyFileAge: 129_600,
  jobAge: 129_600,
} as const
