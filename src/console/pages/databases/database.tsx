/** One database. */
import { PageHead } from '../../parts/page-head.js';

export default function Database() {
  return <PageHead title="Database" />;
}
