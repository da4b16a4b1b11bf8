/** The form of a query. It is sent only on submit, because each query counts against the database's limits. */
import { type Signal, useSignal } from '@preact/signals';
import { usePageQuery } from '../../api/query.js';
import { Check, SubmitButton, TextField } from '../../parts/field.js';
import { FilterHelp } from './filter-help.js';
import { PartChoice } from './part-choice.js';
import { type IndexContent, SEARCH } from './plane.js';
import { askingOf } from './query-call.js';

export function QueryForm({ content }: { readonly content: Partial<IndexContent> }) {
  const [query, set] = usePageQuery();
  const asking = askingOf(query);
  const text = useSignal(asking.query);
  const filter = useSignal(asking.filter ?? '');
  const topK = useSignal(String(asking.topK));
  const weight = useSignal(asking.semanticWeight);
  const rerank = useSignal(asking.reranking);
  const explains = useSignal(query.why === '1');
  const send = (event: Event) => {
    event.preventDefault();
    const flags = { rerank: rerank.value ? '1' : '', why: explains.value ? '1' : '' };
    set({ q: text.value, filter: filter.value, k: topK.value, w: String(weight.value), ...flags }, false);
  };
  return (
    <form class="card stack" onSubmit={send}>
      <div class="search-line">
        <PartChoice plane={SEARCH} content={content} />
        <TextField label="Query" value={text} placeholder="star wras" isRequired />
        <SubmitButton>Search</SubmitButton>
      </div>
      <TextField label="Filter" value={filter} placeholder="year >= 1960 AND genre = 'novel'" />
      <div class="form-grid">
        <TextField label="Results at most" type="number" value={topK} />
        <Weight weight={weight} />
        <div class="stack tight">
          <Check value={rerank} label="Look again at the best (reranking)" />
          <Check value={explains} label="Show how scores came about" />
        </div>
      </div>
      <FilterHelp />
    </form>
  );
}

function Weight({ weight }: { readonly weight: Signal<number> }) {
  return (
    <label class="field">
      <span>{`Weight of likeness: ${Math.round(weight.value * 100)} %`}</span>
      <input
        type="range"
        min="0"
        max="1"
        step="0.05"
        value={weight.value}
        onInput={({ currentTarget }) => {
          weight.value = Number(currentTarget.value);
        }}
      />
      <span class="hint">The rest is the weight of keywords.</span>
    </label>
  );
}
