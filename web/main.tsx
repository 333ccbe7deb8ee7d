/** The entry point of the web page: loads the session and renders the page of the address. */

import { render } from 'preact'
import { interceptLinks } from './client/router.ts'
import { loadSession } from './client/session.ts'
import { Page } from './views/frame/page.tsx'

interceptLinks()
void loadSession()
render(<Page />, document.getElementById('page')!)
