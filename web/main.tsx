/** The entry point of the web page: takes over what the document has started, and renders the page of the address. */

import { render } from 'preact'
import { interceptLinks } from './client/router.ts'
import { beginSession } from './client/session.ts'
import { loadAreasAhead } from './views/frame/area-loader.tsx'
import { Page } from './views/frame/page.tsx'

interceptLinks()
beginSession()
loadAreasAhead()
render(<Page />, document.getElementById('page')!)
