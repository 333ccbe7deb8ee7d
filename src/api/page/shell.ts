/** The HTML document of every page address: it loads the bundle, which renders the page. */

import type { PageManifest } from './bundle.ts'

/** Allows only files and calls of this server, and no inline code. */
const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** The headers of the document at a route: the browser loads its files, and the data of the reference, at once. */
export function shellHeaders({ main, style }: PageManifest, route: string): string[] {
  const preloads = [`</assets/${style}>; rel=preload; as=style`, `</assets/${main}>; rel=modulepreload`]
  if (route.startsWith('/docs')) preloads.push('</openapi.json>; rel=preload; as=fetch; crossorigin')
  return [
    'Content-Security-Policy',
    PAGE_CSP,
    'Link',
    preloads.join(', '),
    'Cross-Origin-Opener-Policy',
    'same-origin',
    'Cross-Origin-Resource-Policy',
    'same-origin',
    'Permissions-Policy',
    'camera=(), geolocation=(), microphone=()',
    'X-Frame-Options',
    'DENY',
  ]
}

export function shellHtml({ main, style, theme, icon }: PageManifest): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="What is known about a domain: DNS and its history, website, neighbours, redirects.">
<title>domaindex</title>
<link rel="icon" href="/assets/${icon}" type="image/svg+xml">
<script src="/assets/${theme}"></script>
<link rel="stylesheet" href="/assets/${style}">
<link rel="preload" href="/app/session" as="fetch" crossorigin>
<script type="module" src="/assets/${main}"></script>
</head>
<body>
<div id="page"></div>
<noscript><p class="noscript">This page needs JavaScript. The API works without it: its description is
<a href="/openapi.json">/openapi.json</a>.</p></noscript>
</body>
</html>
`
}
