/** One search database. */
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { Badge } from '../../parts/badge.js';
import { IndexPage } from './index-page.js';
import { SEARCH } from './plane.js';
import { QueryTab } from './query-tab.js';
import { snippetsFor } from './snippets.js';

export default function SearchIndex({ id }: { readonly id: string }) {
  const asked = useAsk(`search ${id}`, (signal) => manage('GET /v2/search/{id}', { path: { id }, signal }));
  return (
    <IndexPage
      plane={SEARCH}
      asked={asked}
      badge={({ type }) => <Badge>{type}</Badge>}
      query={(database, held) => <QueryTab database={database} held={held} />}
      snippetsFor={snippetsFor}
    />
  );
}
