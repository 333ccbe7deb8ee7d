/** Sets the chosen colour scheme before the page is drawn. It runs before the style sheet is applied. */

try {
  const scheme = localStorage.getItem('domaindex-scheme')
  if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset.scheme = scheme
} catch {
  // storage is blocked: the system's scheme applies
}
