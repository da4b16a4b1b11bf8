/** One search database. Its query tab shows the results, the best first, with scores and highlighted words. */
import { useAsk } from '../../api/ask.js';
import { manage, queryText } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { Badge } from '../../parts/badge.js';
import { duration } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { usePartName } from './content.js';
import { FoundDocument } from './found-document.js';
import { IndexPage } from './index-page.js';
import { type IndexContent, SEARCH, type SearchDatabase } from './plane.js';
import { answerTo, askingOf } from './query-call.js';
import { QueryForm } from './query-form.js';
import { snippetsFor } from './snippets.js';

export default function SearchIndex({ id }: { readonly id: string }) {
  const asked = useAsk(`search ${id}`, (signal) => manage('GET /v2/search/{id}', { path: { id }, signal }));
  return (
    <IndexPage
      plane={SEARCH}
      asked={asked}
      badge={({ type }) => <Badge>{type}</Badge>}
      query={(database, content) => <QueryTab database={database} content={content} />}
      snippetsFor={snippetsFor}
    />
  );
}

interface QueryTabProps {
  readonly database: SearchDatabase;
  readonly content: Partial<IndexContent>;
}

function QueryTab({ database, content }: QueryTabProps) {
  const [query] = usePageQuery();
  const index = usePartName(SEARCH, content);
  const asking = askingOf(query);
  const isExplained = query.why === '1';
  const isAsked = asking.query !== '' && content.parts !== undefined;
  const asked = useAsk(
    isAsked ? `query ${database.id} ${index} ${JSON.stringify(asking)} ${isExplained}` : undefined,
    (signal) => answerTo({ id: database.id, index, asking, isExplained }, signal),
  );
  return (
    <div class="stack">
      <QueryForm key={queryText(query)} content={content} />
      {isAsked ? (
        <Shown asked={asked} rows={5}>
          {({ found, tookMs, parts }) => (
            <>
              <p class="muted small">
                {found.length} found in {duration(tookMs)}, there and back
              </p>
              {found.length === 0 && <Empty title="No matches">Fewer words, or no filter, may find some.</Empty>}
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
        <Empty title="Enter a query">Words may be incomplete or have typos; exact matches rank first.</Empty>
      )}
    </div>
  );
}
