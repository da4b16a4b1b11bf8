/** Accounts, members, keys, plans. */
import { PageHead } from '../../parts/page-head.js';

export default function Team() {
  return <PageHead title="Team and keys" />;
}
