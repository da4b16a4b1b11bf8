/** All indexes of vectors of the account, with totals, and creating one. */
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { IndexList, LIST_EVERY_MS } from '../search/index-list.js';
import { VECTORS } from '../search/plane.js';
import { kindOf } from './kind.js';
import { NewVectorIndex } from './new-vector-index.js';

const BODY = '{"name":"films","region":"eu-west-1","similarity_function":"COSINE","dimension_count":384}';
const SAMPLE = `curl -u <e-mail>:<key> ${location.origin}/v2/vector/index -d '${BODY}'`;

export default function VectorIndexes() {
  const asked = useAsk('vectors', (signal) => manage('GET /v2/vector/index', { signal }), LIST_EVERY_MS);
  return (
    <IndexList
      plane={VECTORS}
      asked={asked}
      columns={[{ title: 'Kind', cell: kindOf }]}
      sample={SAMPLE}
      about="An index has namespaces of vectors by id. A query returns the nearest ones, with a filter over their metadata."
      form={(onClose) => <NewVectorIndex onClose={onClose} />}
    />
  );
}
