/** The way of this process to the owners of databases, its own or another's. */
import type { DependencyContainer } from 'tsyringe';
import { KvShardGateway } from '../actors/kv-shard/index.js';
import { ShardCaller } from '../actors/runtime/index.js';
import { callLimitsOf } from './runtime-parts.js';
import * as tokens from './tokens.js';

/** Between two looks for an owner, while a request is held. */
const ROUTE_RETRY_MS = 50;

export function kvGateway(c: DependencyContainer): KvShardGateway {
  const world = c.resolve(tokens.WORLD);
  const host = tokens.ifRegistered(c, tokens.KV_HOST);
  const config = c.resolve(tokens.CONFIG);
  const { clock, timers, random } = tokens.portsOf(c);
  const caller = world.isExclusive
    ? undefined
    : new ShardCaller(c.resolve(tokens.BUS), clock, timers, random, callLimitsOf(config));
  const limits = { holdMs: config.ownership.requestHoldMs, retryEveryMs: ROUTE_RETRY_MS };
  return new KvShardGateway({ clock, timers, caller, host }, limits, world.layout.kvShards);
}
