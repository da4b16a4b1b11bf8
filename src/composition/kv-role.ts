/** The kv role: this process may own kv shards. */
import type { DependencyContainer } from 'tsyringe';
import {
  HeldData,
  KvFold,
  KvGauges,
  KvPlane,
  type KvWork,
  keptLoader,
  Passivation,
  ProcessFacts,
  serveKvShard,
} from '../actors/kv-shard/index.js';
import type { PlaneWorld, ShardHost } from '../actors/runtime/index.js';
import { shardNames } from '../adapters/nats/index.js';
import { NodeReadings } from '../adapters/node/index.js';
import { type Audience, KvEngine, permissionsOf } from '../domain/kv/index.js';
import { ownedShards } from './owned-shards.js';
import { ANSWER_MEMORY, silenceWatchOf, watchShards } from './runtime-parts.js';
import * as tokens from './tokens.js';
import { VERSION } from './version.js';

export interface KvRole {
  readonly host: ShardHost<KvWork>;
  start(): void;
  stop(): Promise<void>;
}

const EXPIRY_EVERY_MS = 100;
const PASSIVATE_AFTER_MS = 600_000;

export function kvRole(c: DependencyContainer): KvRole {
  const config = c.resolve(tokens.CONFIG);
  const { clock, timers, log, metrics, bus } = tokens.portsOf(c);
  const shards = shardNames(c.resolve(tokens.LAYOUT)).kv;
  const silence = silenceWatchOf(config, clock, timers);
  const held = new HeldData(c.resolve(tokens.MEMORY).dataBytes, {
    timers,
    log,
    *loaded() {
      for (const { plane } of owned.planes())
        for (const [name, { engine }] of plane.loaded()) yield [name, engine] as const;
    },
  });
  metrics.gauge('millrace_data_bytes', () => held.usedBytes);
  metrics.gauge('millrace_data_limit_bytes', () => held.limitBytes);

  const owned = ownedShards<KvWork, KvPlane>(c, {
    shards,
    createPlane: planeMaker(c, held),
    serve: (actor) => serveKvShard(bus, actor, ANSWER_MEMORY, silence),
    onSnapshot: (plane, { manifest }) => plane.adoptManifest(manifest),
  });
  watchShards(metrics, owned.host, shards);
  const passivation = new Passivation({ clock, timers, planes: () => owned.planes() });
  const gauges = new KvGauges({ clock, timers, meter: c.resolve(tokens.CONTROL).meter, owners: () => owned.planes() });

  return {
    host: owned.host,
    start: () => {
      owned.start();
      gauges.start();
      held.start();
      passivation.start();
    },
    stop: async () => {
      passivation.stop();
      gauges.stop();
      held.stop();
      await owned.stop();
    },
  };
}

/** What INFO says. The face listens long after the first database was loaded: it is looked for at each question. */
function factsOf(c: DependencyContainer): ProcessFacts {
  const { commandMs, scriptMs, scriptHoldMs } = c.resolve(tokens.CONFIG).bounds;
  const face = () => tokens.ifRegistered(c, tokens.NATIVE_FACE);
  const ports = { clock: c.resolve(tokens.CLOCK), readings: new NodeReadings(), face };
  const scripts = { totalMs: scriptMs, holdMs: scriptHoldMs };
  return new ProcessFacts(ports, { runId: c.resolve(tokens.SESSION).id, version: VERSION, scripts, commandMs });
}

/** @returns what makes the plane of each activation */
function planeMaker(c: DependencyContainer, held: HeldData): (world: PlaneWorld<KvWork>) => KvPlane {
  const { bounds } = c.resolve(tokens.CONFIG);
  const storage = c.resolve(tokens.STORAGE);
  const deliveries = c.resolve(tokens.DELIVERIES);
  const { dataLimits } = c.resolve(tokens.CONTROL);
  const facts = factsOf(c);
  const { clock, timers, random, log } = tokens.portsOf(c);
  const loadKept = keptLoader({ objects: c.resolve(tokens.OBJECTS), log, clock, timers });
  const createFold = (audience: Audience) => {
    const engine = new KvEngine(random, facts, audience);
    engine.maxAnswerBytes = Math.max(bounds.maxAnswerBytes, bounds.maxCommandBytes);
    return new KvFold(engine);
  };
  const limits = {
    expiryKeysPerTick: bounds.expiryKeys,
    expiryEveryMs: EXPIRY_EVERY_MS,
    passivateAfterMs: PASSIVATE_AFTER_MS,
  };

  return ({ activation: { epoch }, actor, history, loadPartition }) => {
    const activation = `${epoch}-${Buffer.from(random.bytes(6)).toString('hex')}`;
    return new KvPlane(
      {
        clock,
        timers,
        log,
        storage,
        activation,
        permissionsOf: (user, rules) => permissionsOf(rules, user),
        deliver: (edge, partition, events) => deliveries.deliver(edge, { partition, activation, events }),
        history,
        createFold,
        loadPartition,
        loadKept,
        dataLimits,
        held,
        onReady: () => actor().resume(),
        onFailure: (error) => actor().fail(error),
      },
      limits,
    );
  };
}
