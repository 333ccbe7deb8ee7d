/** The little that the crawler uses of a package that brings no types. */

declare module 'html-encoding-sniffer' {
  type Options = { xml?: boolean; transportLayerEncodingLabel?: string; defaultEncoding?: string }
  /** The label of an encoding that TextDecoder knows, or `replacement`. */
  export default function htmlEncodingSniffer(bytes: Uint8Array, options?: Options): string
}
