/** One index of vectors. */
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { Badge } from '../../parts/badge.js';
import { IndexPage } from '../search/index-page.js';
import { VECTORS } from '../search/plane.js';
import { kindOf } from './kind.js';
import { VectorQuery } from './query-tab.js';
import { snippetsFor } from './snippets.js';

export default function VectorIndexPage({ id }: { readonly id: string }) {
  const asked = useAsk(`vectors ${id}`, (signal) => manage('GET /v2/vector/index/{id}', { path: { id }, signal }));
  return (
    <IndexPage
      plane={VECTORS}
      asked={asked}
      badge={(index) => <Badge>{kindOf(index)}</Badge>}
      query={(index, held) => <VectorQuery index={index} held={held} />}
      snippetsFor={snippetsFor}
    />
  );
}
