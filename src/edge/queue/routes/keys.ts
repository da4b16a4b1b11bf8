/** `/v2/keys`: what deliveries are signed with. Clients also ask here whether the server is up. */
import { QUEUE_REFUSALS } from '../../error-map.js';
import { Refused } from '../../http/refused.js';
import type { Routes } from './routes.js';

export const keyRoutes: Routes = (add) => {
  add('get', '/v2/keys', (call) => {
    // Whoever has a key can sign: that is more than looking.
    call.mustBeAllowedToChange();
    const keys = call.face.parts.admin.signingKeysOf(call.grant.account);
    if (keys === undefined) throw new Refused(QUEUE_REFUSALS.noSigningKeys);
    call.value(200, { current: keys.current, next: keys.next });
  });

  add('post', '/v2/keys/rotate', async (call) => {
    call.mustBeAllowedToChange();
    const { current, next } = await call.face.parts.admin.rotateSigningKeys(call.grant.account);
    call.value(200, { current, next });
  });
};
