/**
 * `millrace cluster`: creates or compares the streams on an operator's NATS (`init`, `verify`, `adopt-key`), writes
 * the users of its servers (`users DIR`), and shows and steers the cluster (the other verbs).
 */
import { hostname, userInfo } from 'node:os';
import { ClusterLook, Steering } from '../actors/cluster/index.js';
import { Membership } from '../actors/runtime/index.js';

import {
  connect,
  initCluster,
  Names,
  type NatsConnections,
  natsStatus,
  raiseFormat,
  readLayout,
  replaceSealKey,
  shardNames,
  verifyCluster,
} from '../adapters/nats/index.js';
import { natsOptionsOf, openForCommand, writeNatsUsers } from '../adapters/nats/installation/index.js';
import { keyIdOf, NodeRandom } from '../adapters/node/index.js';
import { commandParts } from '../composition/index.js';
import type { Config, Environment } from '../config/index.js';
import { isMillraceError, MillraceError } from '../kernel/index.js';
import type { Log } from '../ports/index.js';
import { CONTROL_SHARD } from '../protocol/index.js';
import { STEERING_VERBS, steeringCommand } from './cluster-steering.js';
import { commandLog } from './command-log.js';
import { loadedConfig } from './loaded-config.js';
import { type ParsedArguments, shown } from './parser.js';
import { ReachedInstallation } from './reached-installation.js';

/** @returns 0 fine, 1 differences found. @throws UsageError, MillraceError */
export async function clusterCommand(
  verb: string,
  asked: ParsedArguments,
  env: Environment,
  write: (text: string) => void,
): Promise<number> {
  const { config } = loadedConfig(env);
  if (Object.hasOwn(STEERING_VERBS, verb)) return steer(verb, asked, config, write);
  if (config.isEmbedded) {
    throw new MillraceError('BAD_CONFIG', 'MILLRACE_NATS_URL is not set: the first start prepares an embedded server');
  }
  if (verb === 'users') {
    const [directory = ''] = asked.words;
    const configuration = await writeNatsUsers(directory, new Names(config.nats.natsPrefix), config.storage);
    write(shown(asked, { directory, configuration }, () => `${configuration}\n`));
    return 0;
  }
  const connections = await connect(natsOptionsOf(config, 'operator'));
  try {
    const { kvShards, queueShards, replicas, allowUnsynced } = config.storage;
    const prefix = config.nats.natsPrefix;
    if (verb === 'init') {
      const layout = await initCluster(connections, { prefix, kvShards, queueShards, replicas, allowUnsynced });
      const counts = `${layout.kvShards} kv shards, ${layout.queueShards} queue shards, replicas ${layout.replicas}`;
      write(shown(asked, layout, () => `cluster ${layout.clusterId}: ${counts}\n`));
      return 0;
    }
    if (verb === 'adopt-key') {
      write(await adoptKey(asked, connections, config));
      return 0;
    }
    const { layout, differences } = await verifyCluster(connections, prefix);
    const clusterId = layout?.clusterId;
    write(
      shown(asked, { clusterId, differences }, () => {
        if (differences.length === 0)
          return `cluster ${clusterId}: all streams have the settings they were created with\n`;
        return differences.map(({ stream, kind, detail }) => `${kind} ${stream}: ${detail}\n`).join('');
      }),
    );
    return differences.length === 0 ? 0 : 1;
  } finally {
    await connections.close();
  }
}

/** For an installation with a lost key: data sealed with it stays unreadable. */
async function adoptKey(asked: ParsedArguments, connections: NatsConnections, config: Config): Promise<string> {
  const { sealKeyFile } = config.storage;
  const keyId = await keyIdOf(sealKeyFile, new NodeRandom());
  await replaceSealKey(connections, config.nats.natsPrefix, keyId);
  const text = `the installation now uses the key ${keyId} of ${sealKeyFile}; secrets sealed with another key cannot be read\n`;
  return shown(asked, { keyId, sealKeyFile }, () => text);
}

/** Does not compare streams, so that an unhealthy cluster can be inspected. */
async function openToLook(config: Config, log: Log) {
  if (config.isEmbedded) return openForCommand(config, log, true);
  const connections = await connect(natsOptionsOf(config, 'operator'));
  const close = () => connections.close();
  try {
    for (let triesLeft = LAYOUT_TRIES; ; triesLeft -= 1) {
      const layout = await readLayout(connections, config.nats.natsPrefix).catch((error: unknown) => {
        if (triesLeft > 1 && isMillraceError(error, 'JOURNAL_UNAVAILABLE')) return 'not yet' as const;
        throw error;
      });
      if (layout === undefined)
        throw new MillraceError('NOT_FOUND', 'this NATS is not prepared: run "millrace cluster init"');
      if (layout !== 'not yet') return { connections, layout, close };
    }
  } catch (error) {
    await close();
    throw error;
  }
}

/** Each try waits for five seconds; together they are as long as a leader election. */
const LAYOUT_TRIES = 3;
/** Heartbeats to wait for, to learn which processes exist. */
const HEARD_HEARTBEATS = 2;

async function steer(
  verb: string,
  asked: ParsedArguments,
  config: Config,
  write: (text: string) => void,
): Promise<number> {
  const log = commandLog(config);
  const { connections, layout, close } = await openToLook(config, log);
  const parts = commandParts(config, connections, log);
  const installation = new ReachedInstallation(config, parts, layout, close);
  const membership = new Membership(parts.bus, parts.clock);
  try {
    membership.start();
    await parts.timers.pause(HEARD_HEARTBEATS * config.ownership.sessionHeartbeatMs);
    const { kv, queue } = shardNames(layout);
    const names = new Names(config.nats.natsPrefix);
    const shards = [CONTROL_SHARD, ...kv, ...queue];
    const by = `${userInfo().username}@${hostname()}`;
    return await steeringCommand(verb, asked, {
      ...parts,
      cluster: new ClusterLook(
        { ...parts, membership, nats: natsStatus(connections, names, layout) },
        { ...layout, shards },
      ),
      steering: new Steering(parts, by),
      formats: {
        by,
        client: installation.client,
        raiseLayout: (level) => raiseFormat(connections, names, level),
        account: async () => (await installation.followControl()).state.firstStart?.account,
      },
      write,
      writeError: (text) => void process.stderr.write(text),
    });
  } finally {
    membership.stop();
    await installation.close();
  }
}
