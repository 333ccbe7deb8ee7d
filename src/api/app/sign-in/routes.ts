/** The routes of the web page for signing in, for sessions and for the password. */

import type { FastifyInstance } from 'fastify'
import type { ApiContext } from '../../context.ts'
import { addPageRoute } from '../../http/routes.ts'
import { appRoute, openRoute } from '../app-handler.ts'
import { forgotPassword, resetPassword, signUp, verify } from '../sign-up/sign-up.ts'
import { changePassword, endOtherSessions, endSession, listSessions } from './own-sessions.ts'
import { setUp } from './setup.ts'
import { showSession, signIn, signInByLink, signOut } from './sign-in.ts'

export function addSignInRoutes(app: FastifyInstance, context: ApiContext): void {
  const change = { csrf: true }
  const read = { csrf: false }
  addPageRoute(app, context, '/app/session', { GET: openRoute(context, showSession, { isChange: false }) })
  addPageRoute(app, context, '/app/sign-in', { POST: openRoute(context, signIn, { isChange: true }) })
  addPageRoute(app, context, '/app/sign-in/link', { POST: openRoute(context, signInByLink, { isChange: true }) })
  addPageRoute(app, context, '/app/setup', { POST: openRoute(context, setUp, { isChange: true }) })
  addMailRoutes(app, context)
  addPageRoute(app, context, '/app/sign-out', { POST: appRoute(context, signOut, change) })
  addPageRoute(app, context, '/app/sessions', {
    GET: appRoute(context, listSessions, read),
    DELETE: appRoute(context, endOtherSessions, change),
  })
  addPageRoute(app, context, '/app/sessions/:id', { DELETE: appRoute(context, endSession, change) })
  addPageRoute(app, context, '/app/password', { POST: appRoute(context, changePassword, change) })
}

/** New accounts and new passwords by mail. */
function addMailRoutes(app: FastifyInstance, context: ApiContext): void {
  const open = { isChange: true }
  addPageRoute(app, context, '/app/sign-up', { POST: openRoute(context, signUp, open) })
  addPageRoute(app, context, '/app/verify', { POST: openRoute(context, verify, open) })
  addPageRoute(app, context, '/app/password/forgot', { POST: openRoute(context, forgotPassword, open) })
  addPageRoute(app, context, '/app/password/reset', { POST: openRoute(context, resetPassword, open) })
}
