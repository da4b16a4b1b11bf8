/** One search index. */
import { PageHead } from '../../parts/page-head.js';

export default function SearchIndex() {
  return <PageHead title="Search index" />;
}
