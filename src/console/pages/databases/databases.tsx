/** All databases. */
import { PageHead } from '../../parts/page-head.js';

export default function Databases() {
  return <PageHead title="Databases" />;
}
