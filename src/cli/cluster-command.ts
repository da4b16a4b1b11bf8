/**
 * `millrace cluster init|verify|adopt-key`: makes the streams on a NATS of the operator's once, or compares them.
 * `millrace cluster users DIR`: who may sign in to its servers.
 */

import {
  connect,
  initCluster,
  Names,
  type NatsConnections,
  replaceSealKey,
  verifyCluster,
} from '../adapters/nats/index.js';
import { natsOptionsOf, writeNatsUsers } from '../adapters/nats/installation/index.js';
import { keyIdOf, NodeRandom } from '../adapters/node/index.js';
import { type Config, type Environment, loadConfig } from '../config/index.js';
import { MillraceError } from '../kernel/index.js';

/** @returns 0 fine, 1 differences were found, 2 asked wrongly. @throws MillraceError */
export async function clusterCommand(
  argv: readonly string[],
  env: Environment,
  write: (text: string) => void,
): Promise<number> {
  const [verb, directory] = argv;
  const isOfUsers = verb === 'users' && directory !== undefined;
  if (!isOfUsers && verb !== 'init' && verb !== 'verify' && verb !== 'adopt-key') {
    write('usage: millrace cluster init|verify|adopt-key|users DIR\n');
    return 2;
  }
  const { config } = loadConfig(env);
  if (config.isEmbedded) {
    throw new MillraceError(
      'BAD_CONFIG',
      'MILLRACE_NATS_URL is not set: an embedded server is prepared by its first start',
    );
  }
  if (isOfUsers) {
    write(`${await writeNatsUsers(directory, new Names(config.nats.natsPrefix), config.storage)}\n`);
    return 0;
  }
  const connections = await connect(natsOptionsOf(config, 'operator'));
  try {
    const { kvShards, queueShards, replicas, allowUnsynced } = config.storage;
    const prefix = config.nats.natsPrefix;
    if (verb === 'init') {
      const layout = await initCluster(connections, { prefix, kvShards, queueShards, replicas, allowUnsynced });
      write(`cluster ${layout.clusterId}: ${layout.kvShards} kv shards, ${layout.queueShards} queue shards, `);
      write(`replicas ${layout.replicas}\n`);
      return 0;
    }
    if (verb === 'adopt-key') return await adoptKey(connections, config, write);
    const { layout, differences } = await verifyCluster(connections, prefix);
    for (const { stream, kind, detail } of differences) write(`${kind} ${stream}: ${detail}\n`);
    if (differences.length === 0) write(`cluster ${layout?.clusterId}: everything is as it was created\n`);
    return differences.length === 0 ? 0 : 1;
  } finally {
    await connections.close();
  }
}

/** For an installation whose key is lost for good: what it sealed stays closed. */
async function adoptKey(connections: NatsConnections, config: Config, write: (text: string) => void): Promise<number> {
  const { sealKeyFile } = config.storage;
  const keyId = await keyIdOf(sealKeyFile, new NodeRandom());
  await replaceSealKey(connections, config.nats.natsPrefix, keyId);
  write(`the installation has the key ${keyId} of ${sealKeyFile} now; what another key sealed cannot be opened\n`);
  return 0;
}
