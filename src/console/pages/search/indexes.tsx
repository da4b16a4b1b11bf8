/** All search indexes. */
import { PageHead } from '../../parts/page-head.js';

export default function Indexes() {
  return <PageHead title="Search" />;
}
