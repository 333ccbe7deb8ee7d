/** The views of a domain, in the order of their tabs. */

export type DomainView = { view: string; text: string; title: string }

/** `view`: the last segment of the address. `title`: what stands before the name in the title of the page. */
export const DOMAIN_VIEWS: readonly DomainView[] = [
  { view: '', text: 'Overview', title: '' },
  { view: 'history', text: 'DNS history', title: 'DNS history of ' },
  { view: 'web', text: 'Website history', title: 'Website history of ' },
  { view: 'certificates', text: 'Certificates', title: 'Certificates of ' },
  { view: 'neighbours', text: 'Neighbours', title: 'Neighbours of ' },
  { view: 'redirects', text: 'Redirects', title: 'Redirects of ' },
  { view: 'uses', text: 'Used by', title: 'Who uses ' },
  { view: 'similar', text: 'Similar pages', title: 'Pages similar to ' },
  { view: 'lookalikes', text: 'Lookalikes', title: 'Names that imitate ' },
]
