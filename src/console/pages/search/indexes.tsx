/** All search databases of the account, with totals, and creating one. */
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { IndexList, LIST_EVERY_MS } from './index-list.js';
import { NewSearch } from './new-search.js';
import { SEARCH } from './plane.js';

const SAMPLE = `curl -u <e-mail>:<key> ${location.origin}/v2/search -d '{"name":"papers","region":"eu-west-1","type":"payg"}'`;

export default function Indexes() {
  const asked = useAsk('search', (signal) => manage('GET /v2/search', { signal }), LIST_EVERY_MS);
  return (
    <IndexList
      plane={SEARCH}
      asked={asked}
      sample={SAMPLE}
      about="A search database holds named indexes of documents. The first document makes its index."
      form={(onClose) => <NewSearch onClose={onClose} />}
    />
  );
}
