/** The differences of an event as texts, for mail, feeds and the web page. */

/** What the text of a difference needs. `Data`: a record of the type `Type`. */
export type DescribedDifference<Type, Data> =
  | { type: 'new' }
  | { type: 'status'; after: string }
  | { type: 'records'; record_type: Type; added: readonly Data[]; removed: readonly Data[] }
  | { type: 'website'; after: object }
  | { type: 'redirect'; before: string | null; after: string | null }
  | { type: 'certificate'; logged_at?: string; after: DescribedCertificate | null }
  | { type: 'text'; percent: number }
  | { type: 'limit'; events: number }

type DescribedCertificate = { issuer: string; names: readonly string[]; name_count: number }

/** Records, and names of a certificate, that are listed; the others are counted. */
const MAX_LISTED = 3

/** `recordText`: the data of a record as text. */
export function differenceText<Type, Data>(
  difference: DescribedDifference<Type, Data>,
  recordText: (type: Type, record: Data) => string,
): string {
  switch (difference.type) {
    case 'new':
      return 'new name'
    case 'status':
      return difference.after === 'nxdomain' ? 'the name no longer exists' : 'the name exists'
    case 'records': {
      const { record_type: type, added, removed } = difference
      const texts = (records: readonly Data[]): string[] => records.map((record) => recordText(type, record))
      return `${type} ${[...listed(texts(added), '+ '), ...listed(texts(removed), '− ')].join(', ')}`
    }
    case 'website':
      return `website: ${Object.entries(difference.after).map(fieldText).join(', ')}`
    case 'redirect':
      return difference.after === null
        ? `no longer redirects to ${difference.before}`
        : `redirects to ${difference.after}`
    case 'certificate':
      return certificateText(difference.after, difference.logged_at !== undefined)
    case 'text':
      return `${difference.percent} % of the words of the start page changed`
    case 'limit':
      return `${difference.events.toLocaleString('en')} events today: further ones of this day are left out`
  }
}

/** A field of the verdict on a website. */
function fieldText([field, value]: [string, unknown]): string {
  return `${field.replaceAll('_', ' ')} ${value === true ? 'yes' : value === false ? 'no' : value}`
}

function certificateText(certificate: DescribedCertificate | null, isLogged: boolean): string {
  if (certificate === null) return 'no certificate any more'
  const { issuer, names, name_count } = certificate
  const of = listed(names, '', name_count).join(', ')
  return `${isLogged ? 'certificate in a log' : 'certificate'} for ${of}, issued by ${issuer}`
}

/** The first texts, each after `sign`, and the number of the others. `count`: of all. */
function listed(texts: readonly string[], sign: string, count = texts.length): string[] {
  const first = texts.slice(0, MAX_LISTED)
  const rest = count - first.length
  return [...first, ...(rest > 0 ? [`${rest} more`] : [])].map((text) => `${sign}${text}`)
}
