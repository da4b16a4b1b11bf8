/** The queue: what is under way, and what it goes by. */
import { PageHead } from '../../parts/page-head.js';

export default function Queue() {
  return <PageHead title="Queue" />;
}
