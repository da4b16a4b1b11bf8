/** The queue as the edge of this process reaches it: its gateway, and the server of its face. */
import type { DependencyContainer } from 'tsyringe';
import { QueueShardGateway, type QueueWork } from '../actors/queue/index.js';
import { ShardCaller, type ShardHost } from '../actors/runtime/index.js';
import { createQueueServer, type QueueServer } from '../edge/index.js';
import type { HttpOut, IntakeLog, MessageLog, RunLog } from '../ports/index.js';
import type { ControlRole } from './control-role.js';
import type { NatsWorld } from './nats-world.js';
import { callLimitsOf } from './runtime-parts.js';
import * as tokens from './tokens.js';

export interface QueueEdgeOptions {
  readonly world: NatsWorld;
  /** Undefined in a process that owns no queues. */
  readonly host: ShardHost<QueueWork> | undefined;
  readonly accounts: ControlRole['accounts'];
  readonly intake: IntakeLog;
  readonly http: HttpOut;
  readonly readModels: MessageLog & RunLog;
  readonly face: Pick<
    Parameters<typeof createQueueServer>[0],
    'limits' | 'aliases' | 'tls' | 'budget' | 'freshness' | 'signIns'
  >;
}

/** Between two looks for an owner, while a request is held. */
const ROUTE_RETRY_MS = 50;
/** A message of the server is at most a mebibyte by default; settings and ids come on top of the bodies. */
const MAX_INTAKE_BYTES = 768 * 1024;

export function queueFace(c: DependencyContainer, options: QueueEdgeOptions): QueueServer {
  const { world, host, accounts, intake, http, readModels, face } = options;
  const config = c.resolve(tokens.CONFIG);
  const clock = c.resolve(tokens.CLOCK);
  const timers = c.resolve(tokens.TIMERS);
  const random = c.resolve(tokens.RANDOM);
  const bus = c.resolve(tokens.BUS);
  const caller = world.isExclusive ? undefined : new ShardCaller(bus, clock, timers, random, callLimitsOf(config));
  const gateway = new QueueShardGateway(
    { clock, timers, metrics: c.resolve(tokens.METRICS), intake, caller, host },
    {
      holdMs: config.ownership.requestHoldMs,
      retryEveryMs: ROUTE_RETRY_MS,
      tellAfterMs: config.delivery.queueTellAfterMs,
      maxIntakeBytes: MAX_INTAKE_BYTES,
    },
    world.layout.queueShards,
  );
  return createQueueServer({
    gateway,
    access: accounts,
    admin: accounts,
    messageLog: readModels,
    runLog: readModels,
    destinations: http,
    clock,
    timers,
    random,
    log: c.resolve(tokens.FACE_LOG),
    trustedProxies: config.faces.trustedProxies,
    publicUrl: config.faces.publicUrlQueue,
    ...face,
  });
}
