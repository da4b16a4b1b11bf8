/** Asks an index, and shows what it found: the best first, with its score and what is like the words of the query. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { queryText } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { duration } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { FilterHelp } from './filter-help.js';
import { FoundDocument } from './found-document.js';
import { type Held, useIndexName } from './held.js';
import { IndexChoice } from './index-choice.js';
import { answerTo, askingOf } from './query-call.js';
import type { SearchDatabase } from './search-databases.js';

export interface QueryTabProps {
  readonly database: SearchDatabase;
  readonly held: Partial<Held>;
}

export function QueryTab({ database, held }: QueryTabProps) {
  const [query] = usePageQuery();
  const index = useIndexName(held);
  const asking = askingOf(query);
  const isExplained = query.why === '1';
  const isAsked = asking.query !== '' && held.indexes !== undefined;
  const asked = useAsk(
    isAsked ? `query ${database.id} ${index} ${JSON.stringify(asking)} ${isExplained}` : undefined,
    (signal) => answerTo({ id: database.id, index, asking, isExplained }, signal),
  );
  return (
    <div class="stack">
      <QueryForm key={queryText(query)} held={held} />
      {isAsked ? (
        <Shown asked={asked} rows={5}>
          {({ found, tookMs, parts }) => (
            <>
              <p class="muted small">
                {found.length} found in {duration(tookMs)}, there and back
              </p>
              {found.length === 0 && (
                <Empty title="Nothing is like that">Fewer words, or no filter, may find some.</Empty>
              )}
              {found.map((one, at) => (
                <FoundDocument
                  key={one.id}
                  found={one}
                  place={at + 1}
                  asking={asking}
                  parts={parts?.get(one.id)}
                  href={queryText({ tab: 'documents', index, doc: one.id })}
                />
              ))}
            </>
          )}
        </Shown>
      ) : (
        <Empty title="Ask for something">Words may have typos or be beginnings; the same text comes first.</Empty>
      )}
    </div>
  );
}

/** What is typed counts when it is sent: each query is one of the database's budget. */
function QueryForm({ held }: { readonly held: Partial<Held> }) {
  const [query, set] = usePageQuery();
  const asking = askingOf(query);
  const text = useSignal(asking.query);
  const filter = useSignal(asking.filter ?? '');
  const topK = useSignal(String(asking.topK));
  const weight = useSignal(asking.semanticWeight);
  const rerank = useSignal(asking.reranking);
  const why = useSignal(query.why === '1');
  const send = (event: Event) => {
    event.preventDefault();
    const flags = { rerank: rerank.value ? '1' : '', why: why.value ? '1' : '' };
    set({ q: text.value, filter: filter.value, k: topK.value, w: String(weight.value), ...flags }, false);
  };
  const typed = (into: typeof text) => (event: { readonly currentTarget: { readonly value: string } }) => {
    into.value = event.currentTarget.value;
  };
  const flag = (into: typeof why, label: string) => (
    <label class="check">
      <input
        type="checkbox"
        checked={into.value}
        onChange={({ currentTarget }) => {
          into.value = currentTarget.checked;
        }}
      />
      <span>{label}</span>
    </label>
  );
  return (
    <form class="card stack" onSubmit={send}>
      <div class="search-line">
        <IndexChoice held={held} />
        <label class="field">
          <span>Query</span>
          <input type="search" dir="auto" value={text.value} onInput={typed(text)} placeholder="star wras" required />
        </label>
        <button type="submit" class="button primary">
          Search
        </button>
      </div>
      <label class="field">
        <span>Filter</span>
        <input
          class="mono"
          spellcheck={false}
          value={filter.value}
          onInput={typed(filter)}
          placeholder="year >= 1960 AND genre = 'novel'"
        />
      </label>
      <div class="form-grid">
        <label class="field">
          <span>Results at most</span>
          <input type="number" min="1" value={topK.value} onInput={typed(topK)} />
        </label>
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
          <span class="hint">The rest is for the words themselves.</span>
        </label>
        <div class="stack tight">
          {flag(rerank, 'Look again at the best (reranking)')}
          {flag(why, 'Show how scores came about')}
        </div>
      </div>
      <FilterHelp />
    </form>
  );
}
