/** /domain/NAME/similar: websites whose start pages read alike, with scores. */

import { useLoaded } from '../../client/loaded.ts'
import { profilePath, similarPath } from '../../client/paths.ts'
import { Card } from '../../parts/card.tsx'
import { EmptyState, LoadedView } from '../../parts/notice.tsx'
import { Table } from '../../parts/table.tsx'
import { countOf } from '../../parts/text/numbers.ts'
import { DataTools } from './data/data-tools.tsx'
import type { SimilarBody } from './data/responses.ts'
import { endpointCall } from './data/snippets.ts'

export function Similar({ name }: { name: string }) {
  const { loaded, retry } = useLoaded<SimilarBody>(similarPath(name))
  return (
    <LoadedView loaded={loaded} what="similar pages" onRetry={retry}>
      {(body) => <SimilarTable name={name} body={body} />}
    </LoadedView>
  )
}

function SimilarTable({ name, body }: { name: string; body: SimilarBody }) {
  const { result } = body
  return (
    <Card title="Start pages that read alike" aside={countOf(result.length, 'page')}>
      {result.length === 0 ? (
        <EmptyState title="No similar page">No other start page shares enough words with that of {name}.</EmptyState>
      ) : (
        <Table
          caption={`Domains whose start page is similar to that of ${name}`}
          keyOf={({ target }) => target}
          rows={result}
          columns={[
            { name: 'Domain', cell: ({ target }) => <a href={profilePath(target)}>{target}</a> },
            { name: 'Similarity', cell: ({ similarity }) => <Score similarity={similarity} /> },
          ]}
        />
      )}
      <DataTools
        name={`${name}-similar`}
        call={endpointCall('similar', { query: name })}
        json={body}
        rows={() => result}
      />
    </Card>
  )
}

function Score({ similarity }: { similarity: number }) {
  return (
    <span class="score">
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <rect class="meter-track" width="100" height="6" rx="1" />
        <rect class="score-value" width={100 * similarity} height="6" rx="1" />
      </svg>
      {(100 * similarity).toFixed(similarity >= 0.995 ? 0 : 1)} %
    </span>
  )
}
