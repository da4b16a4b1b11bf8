/** Databases as they were, proof, and who changed what. */
import { PageHead } from '../../parts/page-head.js';

export default function Past() {
  return <PageHead title="Time machine" />;
}
