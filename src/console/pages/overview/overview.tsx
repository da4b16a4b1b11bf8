/** What goes on, and what needs attention. */
import { PageHead } from '../../parts/page-head.js';

export default function Overview() {
  return <PageHead title="Overview" />;
}
