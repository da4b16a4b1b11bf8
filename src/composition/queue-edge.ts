/** The queue as the edge of this process reaches it: its gateway, and the server of its face. */
import type { DependencyContainer } from 'tsyringe';
import { QueueShardGateway } from '../actors/queue/index.js';
import { ShardCaller } from '../actors/runtime/index.js';
import { createQueueServer, type QueueServer } from '../edge/index.js';
import { callLimitsOf } from './runtime-parts.js';
import * as tokens from './tokens.js';

type FaceOptions = Pick<
  Parameters<typeof createQueueServer>[0],
  'limits' | 'aliases' | 'tls' | 'budget' | 'freshness' | 'signIns'
>;

/** Between two looks for an owner, while a request is held. */
const ROUTE_RETRY_MS = 50;
/** A message of the server is at most a mebibyte by default; settings and ids come on top of the bodies. */
const MAX_INTAKE_BYTES = 768 * 1024;

export function queueFace(c: DependencyContainer, face: FaceOptions): QueueServer {
  const { accounts } = c.resolve(tokens.CONTROL);
  const readModels = c.resolve(tokens.READ_MODELS);
  const { publicUrlQueue: publicUrl, trustedProxies } = c.resolve(tokens.CONFIG).faces;
  return createQueueServer({
    gateway: queueGateway(c),
    access: accounts,
    admin: accounts,
    messageLog: readModels,
    runLog: readModels,
    destinations: c.resolve(tokens.HTTP_OUT),
    clock: c.resolve(tokens.CLOCK),
    timers: c.resolve(tokens.TIMERS),
    random: c.resolve(tokens.RANDOM),
    log: c.resolve(tokens.FACE_LOG),
    trustedProxies,
    publicUrl,
    ...face,
  });
}

function queueGateway(c: DependencyContainer): QueueShardGateway {
  const { isExclusive, layout } = c.resolve(tokens.WORLD);
  const config = c.resolve(tokens.CONFIG);
  const { clock, timers, random, bus } = tokens.portsOf(c);
  const caller = isExclusive ? undefined : new ShardCaller(bus, clock, timers, random, callLimitsOf(config));
  const host = tokens.ifRegistered(c, tokens.QUEUE_HOST);
  const intake = c.resolve(tokens.INTAKE);
  return new QueueShardGateway(
    { clock, timers, metrics: c.resolve(tokens.METRICS), intake, caller, host },
    {
      holdMs: config.ownership.requestHoldMs,
      retryEveryMs: ROUTE_RETRY_MS,
      tellAfterMs: config.delivery.queueTellAfterMs,
      maxIntakeBytes: MAX_INTAKE_BYTES,
    },
    layout.queueShards,
  );
}
