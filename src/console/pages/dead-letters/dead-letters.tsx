/** What could not be delivered. */
import { PageHead } from '../../parts/page-head.js';

export default function DeadLetters() {
  return <PageHead title="Dead letters" />;
}
