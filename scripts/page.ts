/** Bundles the web page into dist/web/, for an image that is built from the sources. */

import { buildPageBundle } from '../src/api/page/bundle.ts'

await buildPageBundle('dist/web')
