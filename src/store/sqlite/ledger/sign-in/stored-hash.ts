/** A value whose hash is in hexadecimal, so that it can be sent through any channel. */

export type StoredHash<Value extends { hash: Uint8Array }> = Omit<Value, 'hash'> & { hash: string }

export function withHexHash<Value extends { hash: Uint8Array }>(value: Value): StoredHash<Value> {
  return { ...value, hash: Buffer.from(value.hash).toString('hex') }
}
