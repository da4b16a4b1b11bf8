/** `/v2/keys`: what deliveries are signed with. Clients also ask here whether the server is up. */

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
      // Whoever has a key can sign: that is more than looking.
      const keys = call.face.parts.admin.signingKeysOf(call.grant.account);
      if (keys === undefined) throw new RefusedRequest(QUEUE_REFUSALS.noSigningKeys);
      call.value(200, { current: keys.current, next: keys.next });
    },
  }),

  queueRoute('POST /v2/keys/rotate', {
    summary: 'Makes the next key the current one.',
    permission: 'change',
    answer: shows('SigningKeys'),
    async handle(call) {
      const { current, next } = await call.face.parts.admin.rotateSigningKeys(call.grant.account);
      call.value(200, { current, next });
    },
  }),
];
