/** The settings of what is sent about events. */

import { parseSwitch, type Setting } from './parse.ts'

export type DeliverySettings = {
  /** Whether `serve` sends events to webhooks. */
  deliveries: boolean
  /** Whether webhooks may have private addresses, http:// and any port. */
  webhookPrivate: boolean
}

export const DELIVERY_SETTINGS: { readonly [Key in keyof DeliverySettings]: Setting<DeliverySettings[Key]> } = {
  deliveries: {
    name: 'DOMAINDEX_DELIVERIES',
    defaultText: 'on',
    meaning:
      'Whether `serve` sends events to webhooks and by mail, in a child process. ' +
      'If several servers share a store, they share the work.',
    allowed: 'on or off',
    parse: parseSwitch,
  },
  webhookPrivate: {
    name: 'DOMAINDEX_WEBHOOK_PRIVATE',
    defaultText: 'off',
    meaning:
      'Whether webhooks may have private addresses, `http://` and any port. ' +
      'Then everybody with an account can send requests into your network. ' +
      'By default only public addresses, `https://` and port 443 are allowed.',
    allowed: 'on or off',
    parse: parseSwitch,
  },
}
