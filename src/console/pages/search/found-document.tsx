/** One result: its score with an explanation, and highlighted words. */
import { Code } from '../../parts/code.js';
import { Highlighted } from './highlight.js';
import type { FoundRecord } from './plane.js';
import type { Asking, Parts } from './query-call.js';
import { ScoreBar, shownScore } from './score-bar.js';

export interface FoundDocumentProps {
  readonly found: FoundRecord;
  readonly place: number;
  readonly asking: Asking;
  readonly parts: Parts | undefined;
  readonly href: string;
}

export function FoundDocument({ found, place, asking, parts, href }: FoundDocumentProps) {
  const { id, score = 0, content, metadata } = found;
  return (
    <article class="card stack tight">
      <div class="row between">
        <h2 class="wrap-anywhere search-id" dir="auto">
          <span class="muted">{place}.</span> <a href={href}>{id}</a>
        </h2>
        <span class="row">
          <ScoreBar value={score} label="Score" />
          <strong class="search-score">{shownScore(score)}</strong>
        </span>
      </div>
      {parts !== undefined && <Why score={score} asking={asking} parts={parts} />}
      <Highlighted content={content} query={asking.query} />
      {metadata !== undefined && (
        <details>
          <summary>Metadata</summary>
          <Code text={JSON.stringify(metadata, null, 2)} />
        </details>
      )}
    </article>
  );
}

interface WhyProps {
  readonly score: number;
  readonly asking: Asking;
  readonly parts: Parts;
}

/** The same query was also run with words only and with similarity only: the score is the weighted sum of both. */
function Why({ score, asking: { semanticWeight, reranking }, parts: { words, likeness } }: WhyProps) {
  const sum = semanticWeight * (likeness ?? 0) + (1 - semanticWeight) * (words ?? 0);
  const rows = [
    ['Words', words, 1 - semanticWeight],
    ['Likeness', likeness, semanticWeight],
  ] as const;
  return (
    <div class="search-why small">
      {rows.map(([name, value, weight]) => [
        <span key={`${name} name`}>{name}</span>,
        <ScoreBar key={`${name} bar`} value={value ?? 0} label={name} />,
        <span key={name} class="muted">
          {value === undefined
            ? 'not among the best by that alone'
            : `${shownScore(value)} × ${shownScore(weight)} = ${shownScore(value * weight)}`}
        </span>,
      ])}
      {Math.abs(sum - score) > 0.02 && (
        <span class="muted search-rest">
          {score >= 0.995
            ? 'It contains the exact text of the query: that ranks first.'
            : `${reranking ? 'Reranking' : 'Word order and lower-ranked matches'} makes ${shownScore(score)} of ${shownScore(sum)}.`}
        </span>
      )}
    </div>
  );
}
