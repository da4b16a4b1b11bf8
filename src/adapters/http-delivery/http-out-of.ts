/** Makes the port of calls to destinations from the settings. */
import type { Config } from '../../config/index.js';
import type { Metrics } from '../../ports/index.js';
import { resolverOfThisMachine } from './resolve-name.js';
import { SocketHttpOut } from './socket-http-out.js';

export function httpOutOf({ destinations, delivery }: Config, metrics: Metrics): SocketHttpOut {
  const { deliveryNameServers: servers } = delivery;
  const out = new SocketHttpOut({
    allowPrivate: destinations.allowPrivateDestinations,
    allow: destinations.destinationAllow,
    socketsPerOrigin: delivery.deliveryPerOrigin,
    connectTimeoutMs: delivery.deliveryConnectTimeoutMs,
    lookupTimeoutMs: delivery.deliveryLookupTimeoutMs,
    maxLookups: delivery.deliveryLookups,
    resolve: resolverOfThisMachine({ servers: servers.length > 0 ? servers : undefined }),
    maxOverheadBytes: delivery.deliveryOverheadBytes,
    maxAnswerBytes: delivery.deliveryAnswerBytes,
    metrics,
  });
  metrics.gauge('millrace_delivery_answer_bytes', () => out.answers.usedBytes);
  return out;
}
