/** One run, step by step. */
import { PageHead } from '../../parts/page-head.js';

export default function Run() {
  return <PageHead title="Run" />;
}
