/** The entry point of the web page: takes over what the document has started, and renders the page of the address. */

import { render } from 'preact'
import { keptCalls } from './client/first-calls.ts'
import { loadDataAhead } from './client/loaded.ts'
import { interceptLinks, pageAddress } from './client/router.ts'
import { beginSession, isSignedOut, session } from './client/session.ts'
import { loadAreasAhead } from './views/frame/area-loader.tsx'
import { Page } from './views/frame/page.tsx'

interceptLinks()
beginSession()
const { path, query } = pageAddress.get()
if (session.get() !== null) loadDataAhead(keptCalls(path, query, !isSignedOut(session.get())))
loadAreasAhead()
render(<Page />, document.getElementById('page')!)
