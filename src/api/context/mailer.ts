/** Sends mail by SMTP. No request waits for it: a failed message is logged, and its user can ask for another one. */

import { createTransport, type Transporter } from 'nodemailer'
import type { Logger } from 'pino'

/** `smtp`: the URL of the server. `from`: the sender. `publicUrl`: the address of the web page, for links. */
export type MailSettings = { smtp: string; from: string; publicUrl: string }

/** A message in plain text. `headers`: further ones. */
export type Message = { to: string; subject: string; text: string; headers?: Record<string, string> }

/** Milliseconds for a connection, for its greeting, and without an answer. */
const TIMEOUT_MS = 10_000
/** Connections to the server, and messages that wait for one. Further ones are dropped. */
const MAX_CONNECTIONS = 2
const MAX_WAITING = 200

export class Mailer {
  readonly publicUrl: string
  readonly #from: string
  readonly #transport: Transporter
  readonly #log: Pick<Logger, 'error'>
  #waiting = 0

  constructor({ smtp, from, publicUrl }: MailSettings, log: Pick<Logger, 'error'>) {
    this.publicUrl = publicUrl
    this.#from = from
    this.#log = log
    const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS }
    const closed = { disableFileAccess: true, disableUrlAccess: true }
    this.#transport = createTransport({
      url: smtp,
      pool: true,
      maxConnections: MAX_CONNECTIONS,
      ...timeouts,
      ...closed,
    })
  }

  /** Resolves to whether the server has accepted the message; if not, it was dropped or has failed. Never rejects. */
  async send(message: Message): Promise<boolean> {
    if (this.#waiting >= MAX_WAITING) {
      this.#log.error('mail dropped: too many messages wait for the SMTP server')
      return false
    }
    this.#waiting++
    try {
      await this.#transport.sendMail({ ...message, from: this.#from })
      return true
    } catch (error) {
      const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string }
      this.#log.error({ code, responseCode, command }, 'mail failed') // the whole error has the address
      return false
    } finally {
      this.#waiting--
    }
  }

  /** Why the server cannot be used; null if it accepts a connection and the password. Never rejects. */
  async verify(): Promise<string | null> {
    try {
      await this.#transport.verify()
      return null
    } catch (error) {
      return (error as Error).message
    }
  }

  close(): void {
    this.#transport.close()
  }
}
