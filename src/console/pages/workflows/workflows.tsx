/** Runs of workflows. */
import { PageHead } from '../../parts/page-head.js';

export default function Workflows() {
  return <PageHead title="Workflows" />;
}
