/** Processes, shards, servers and streams. */
import { PageHead } from '../../parts/page-head.js';

export default function Cluster() {
  return <PageHead title="Cluster" />;
}
