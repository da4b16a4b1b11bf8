/** `/v2/keys`: the keys that sign deliveries. Clients also use it to check that the server is up. */

import { QUEUE_REFUSALS } from '../../error-map.js';
import { RefusedRequest } from '../../http/refused.js';
import { shows } from '../answer-schemas.js';
import { type QueueRoute, queueRoute } from '../queue-call.js';

export const KEY_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/keys', {
    summary: 'Shows the keys that deliveries are signed with.',
    permission: 'change',
    answer: shows('SigningKeys'),
    handle: (call) => {
      // A key can sign deliveries, so a read-only token may not see it.
      const keys = call.endpoint.parts.admin.signingKeysOf(call.grant.account);
      if (keys === undefined) throw new RefusedRequest(QUEUE_REFUSALS.noSigningKeys);
      call.value(200, { current: keys.current, next: keys.next });
    },
  }),

  queueRoute('POST /v2/keys/rotate', {
    summary: 'Makes the next key the current one.',
    permission: 'change',
    answer: shows('SigningKeys'),
    async handle(call) {
      const { current, next } = await call.endpoint.parts.admin.rotateSigningKeys(call.grant.account);
      call.value(200, { current, next });
    },
  }),
];
