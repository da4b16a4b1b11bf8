/** One index of vectors. Its query tab finds the nearest to a text, a vector or a stored vector. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { manage, queryText } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { Badge } from '../../parts/badge.js';
import { Code } from '../../parts/code.js';
import { Choice, SubmitButton, TextField } from '../../parts/field.js';
import { duration } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { usePartName } from '../search/content.js';
import { FilterHelp } from '../search/filter-help.js';
import { IndexPage } from '../search/index-page.js';
import { PartChoice } from '../search/part-choice.js';
import { type IndexContent, VECTORS, type VectorIndex } from '../search/plane.js';
import { ScoreBar, shownScore } from '../search/score-bar.js';
import { kindOf } from './kind.js';
import { type By, type FoundVector, vectorAnswer, vectorAskingOf } from './query-call.js';
import { snippetsFor } from './snippets.js';

export default function VectorIndexPage({ id }: { readonly id: string }) {
  const asked = useAsk(`vectors ${id}`, (signal) => manage('GET /v2/vector/index/{id}', { path: { id }, signal }));
  return (
    <IndexPage
      plane={VECTORS}
      asked={asked}
      badge={(index) => <Badge>{kindOf(index)}</Badge>}
      query={(index, content) => <VectorQuery index={index} content={content} />}
      snippetsFor={snippetsFor}
    />
  );
}

interface VectorQueryProps {
  readonly index: VectorIndex;
  readonly content: Partial<IndexContent>;
}

function VectorQuery({ index, content }: VectorQueryProps) {
  const [query] = usePageQuery();
  const namespace = usePartName(VECTORS, content);
  const asking = vectorAskingOf(query, takesTexts(index));
  const isAsked = asking.given !== '' && content.parts !== undefined;
  const asked = useAsk(isAsked ? `nearest ${index.id} ${namespace} ${JSON.stringify(asking)}` : undefined, (signal) =>
    vectorAnswer(index, namespace, asking, signal),
  );
  return (
    <div class="stack">
      <QueryForm key={queryText(query)} index={index} content={content} />
      {isAsked ? (
        <Shown asked={asked} rows={5}>
          {({ found, tookMs }) => (
            <>
              <p class="muted small">
                {found.length} found in {duration(tookMs)}, there and back
              </p>
              {found.length === 0 && <Empty title="No matches">A wider filter may find some.</Empty>}
              {found.map((one, at) => (
                <Found key={one.id} found={one} place={at + 1} />
              ))}
            </>
          )}
        </Shown>
      ) : (
        <Empty title="Enter a text, a vector or an id">The nearest vectors are listed first, with their scores.</Empty>
      )}
    </div>
  );
}

function takesTexts({ embedding_model: dense, sparse_embedding_model: sparse }: VectorIndex): boolean {
  return dense !== '' || sparse !== '';
}

const LABELS: Readonly<Record<By, string>> = { text: 'Text', vector: 'Vector', like: 'Id' };
const PLACEHOLDERS: Readonly<Record<By, string>> = {
  text: 'a ship in space',
  vector: '0.1, 0.2, 0.3',
  like: 'film:1',
};

/** Sent only on submit, because each query counts against the limits of the index. */
function QueryForm({ index, content }: VectorQueryProps) {
  const [query, set] = usePageQuery();
  const asking = vectorAskingOf(query, takesTexts(index));
  const by = useSignal<string>(asking.by);
  const given = useSignal(asking.given);
  const filter = useSignal(asking.filter ?? '');
  const topK = useSignal(String(asking.topK));
  const fusion = useSignal(asking.fusion);
  const send = (event: Event) => {
    event.preventDefault();
    set({ by: by.value, q: given.value, filter: filter.value, k: topK.value, fusion: fusion.value }, false);
  };
  return (
    <form class="card stack" onSubmit={send}>
      <div class="search-line">
        <PartChoice plane={VECTORS} content={content} />
        <TextField label={LABELS[by.value as By]} value={given} placeholder={PLACEHOLDERS[by.value as By]} isRequired />
        <SubmitButton>Find</SubmitButton>
      </div>
      <TextField label="Filter" value={filter} placeholder="year >= 1960 AND genre = 'novel'" />
      <div class="form-grid">
        <Choice
          label="By"
          value={by}
          options={[
            ...(takesTexts(index) ? ([['text', 'a text']] as const) : []),
            ['vector', 'a vector'],
            ['like', 'a stored vector: more like it'],
          ]}
        />
        <TextField label="Results at most" type="number" value={topK} />
        {index.index_type === 'HYBRID' && (
          <Choice
            label="Merging of both lists"
            value={fusion}
            options={[
              ['RRF', 'by ranks (RRF)'],
              ['DBSF', 'by normalised scores (DBSF)'],
            ]}
          />
        )}
      </div>
      <FilterHelp />
    </form>
  );
}

function Found({ found, place }: { readonly found: FoundVector; readonly place: number }) {
  const [query] = usePageQuery();
  const { id, score = 0, data, metadata } = found;
  const { index } = query;
  return (
    <article class="card stack tight">
      <div class="row between">
        <h2 class="wrap-anywhere search-id" dir="auto">
          <span class="muted">{place}.</span> <a href={queryText({ tab: 'documents', index, doc: id })}>{id}</a>
        </h2>
        <span class="row">
          <ScoreBar value={score} label="Score" />
          <strong class="search-score">{shownScore(score)}</strong>
          <a class="button small" href={queryText({ ...query, by: 'like', q: id })}>
            More like this
          </a>
        </span>
      </div>
      {data !== undefined && (
        <p class="wrap-anywhere" dir="auto">
          {data}
        </p>
      )}
      {metadata !== undefined && <Code text={JSON.stringify(metadata, null, 2)} />}
    </article>
  );
}
