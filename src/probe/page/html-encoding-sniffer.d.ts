/** The types of html-encoding-sniffer that the crawler uses. The package has none. */

declare module 'html-encoding-sniffer' {
  type Options = { xml?: boolean; transportLayerEncodingLabel?: string; defaultEncoding?: string }
  /** Returns the label of an encoding that TextDecoder supports, or `replacement`. */
  export default function htmlEncodingSniffer(bytes: Uint8Array, options?: Options): string
}
