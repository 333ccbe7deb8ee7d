/** A real SMTP server on loopback that keeps the messages that it receives. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export type Mail = { to: string[]; subject: string; text: string; head: string }

export async function openMailbox() {
  const received: Mail[] = []
  const logins: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 1, // ms; a server that was stopped keeps its connection for the next message
    onAuth({ username, password }, _session, done) {
      logins.push(`${username}:${password}`)
      done(null, { user: username })
    },
    onData(stream, { envelope }, done) {
      let raw = ''
      stream.setEncoding('utf8').on('data', (chunk: string) => (raw += chunk))
      stream.on('end', () => {
        received.push(
          parse(
            raw,
            envelope.rcptTo.map(({ address }) => address),
          ),
        )
        done()
      })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://me:secret@127.0.0.1:${port}`,
    received,
    logins,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** The headers, the header Subject and the body of a message in plain text. Its lines may be folded (RFC 2045, quoted-printable). */
function parse(raw: string, to: string[]): Mail {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n').replaceAll('\r\n', '\n')
  const isQuoted = /quoted-printable/i.test(head)
  const text = isQuoted
    ? body.replaceAll('=\n', '').replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : body
  const subject = /^Subject: (.*(?:\r\n\s.*)*)/m.exec(head)?.[1]?.replaceAll(/\r\n\s/g, ' ') ?? ''
  return { to, subject, text, head }
}
