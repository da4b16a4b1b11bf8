/** The layout of a prepared installation. A missing or altered part is never created again. */
import { MillraceError } from '../../../kernel/index.js';
import { WHAT_TO_DO } from '../../../ports/index.js';
import type { NatsConnections } from '../connection.js';
import type { ClusterLayout } from '../layout-record.js';
import { verifyCluster } from '../verify-cluster.js';

/** @throws JOURNAL_DAMAGED naming every difference; JOURNAL_UNAVAILABLE when it is not prepared yet, or has no quorum */
export async function verifiedLayout(connections: NatsConnections, prefix: string): Promise<ClusterLayout> {
  const { layout, differences } = await verifyCluster(connections, prefix);
  const [first] = differences;
  if (first?.kind === 'no-layout' || first?.kind === 'layout-incomplete') {
    throw new MillraceError(
      'JOURNAL_UNAVAILABLE',
      `this NATS is not prepared (${first.detail}): run "millrace cluster init" once`,
    );
  }
  if (layout === undefined || first !== undefined) {
    const all = differences.map(({ stream, detail }) => `${stream}: ${detail}`).join('; ');
    throw new MillraceError('JOURNAL_DAMAGED', `streams are not as they were created: ${all}; ${WHAT_TO_DO}`);
  }
  return layout;
}
