/** A proxy in front of PostgreSQL that loses connections on request, at moments that no server can be forced into. */

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type LossyProxy = {
  url: string
  /** Loses the connection of the next commit: before the server receives it, or after it has answered. */
  loseCommit(when: 'before' | 'after'): void
  /** The number of lost commits. */
  lost(): number
  /** Closes every open connection. */
  loseAll(): void
  /** Closes every connection, including new ones, until it is switched off. */
  cut(isCut: boolean): void
  /** Stops forwarding without closing anything, like a server that hangs, until it is switched off. */
  freeze(isFrozen: boolean): void
  close(): Promise<void>
}

/** A message of the simple query protocol, https://www.postgresql.org/docs/current/protocol-message-formats.html. */
const COMMIT = Buffer.from('Q\0\0\0\x0bcommit\0')

/** A proxy in front of the server of the store at `url`. */
export async function proxyTo(url: string): Promise<LossyProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-proxy-'))
  const place = new URL(url)
  const host = place.searchParams.get('host')
  const port = place.port || '5432'
  const target = host?.startsWith('/')
    ? { path: join(host, `.s.PGSQL.${port}`) }
    : { host: host ?? place.hostname, port: Number(port) }
  place.searchParams.set('host', folder)
  const open = new Set<Socket>()
  let losing: 'before' | 'after' | null = null
  let lost = 0
  let refuses = false
  let isFrozen = false
  const loseAll = (): void => {
    for (const each of open) each.destroy()
  }

  const server = createServer((client) => {
    if (refuses) return void client.destroy()
    const behind = connect(target)
    const ends = [client, behind]
    const end = (): void => {
      for (const each of ends) each.destroy()
    }
    for (const each of ends) {
      open.add(each)
      each.on('error', end).on('close', end)
      each.on('close', () => open.delete(each))
    }
    if (isFrozen) for (const each of ends) each.pause()
    client.on('data', (data) => {
      if (losing === null || !data.includes(COMMIT)) return void behind.write(data)
      const when = losing
      losing = null
      lost++
      if (when === 'before') return end()
      behind.off('data', forward).on('data', end)
      behind.write(data)
    })
    const forward = (data: Buffer): void => void client.write(data)
    behind.on('data', forward)
  })
  server.listen(join(folder, `.s.PGSQL.${port}`))
  await once(server, 'listening')
  return {
    url: place.href,
    loseCommit(when) {
      losing = when
    },
    lost: () => lost,
    loseAll,
    freeze(isNow) {
      isFrozen = isNow
      for (const each of open) isNow ? each.pause() : each.resume()
    },
    cut(isCut) {
      refuses = isCut
      if (isCut) loseAll()
    },
    async close() {
      server.close()
      loseAll()
      await once(server, 'close')
      await rm(folder, { recursive: true })
    },
  }
}
