/** The whole story of a message. */
import { PageHead } from '../../parts/page-head.js';

export default function Message() {
  return <PageHead title="Message" />;
}
