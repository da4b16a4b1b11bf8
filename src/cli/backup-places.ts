/** The installations of backup commands: one to copy, or an empty one to fill. */
import { join } from 'node:path';
import {
  type ClusterLayout,
  formatOf,
  type MarkKeeper,
  markFile,
  markRecord,
  Names,
  type NatsConnections,
  raiseFormat,
  refuseUnfinishedRestore,
  refuseUsedDirectory,
} from '../adapters/nats/index.js';
import { LAYOUT_MARK, openForCommand, openNats } from '../adapters/nats/installation/index.js';
import { readFileIfThere } from '../adapters/node/index.js';
import { copiedParts, storageOfCommand } from '../composition/index.js';
import type { Config } from '../config/index.js';
import type { Installation } from '../journal/backup/index.js';
import { MillraceError } from '../kernel/index.js';
import type { Log } from '../ports/index.js';

/**
 * The running installation, or that of the data directory, opened for the duration of the command.
 * @throws BAD_CONFIG if there is none; it is not created
 */
export async function openSource(config: Config, log: Log) {
  const { dataDir } = config.storage;
  if (config.isEmbedded && (await readFileIfThere(join(dataDir, LAYOUT_MARK))) === undefined) {
    throw new MillraceError('BAD_CONFIG', `the data directory ${dataDir} has no installation`);
  }
  const { connections, layout, close } = await openForCommand(config, log, false);
  return {
    source: storageOfCommand(config, connections, log),
    installation: installationOf(config, connections, layout),
    close,
  };
}

/**
 * @param onBegun called before the first write, with the place for the mark of an unfinished restore, as soon as it
 * is known
 * @throws CONFLICT if the place is not empty, BAD_CONFIG if an earlier restore is unfinished
 */
export async function openTarget(config: Config, log: Log, onBegun: (mark: MarkKeeper) => Promise<void>) {
  if (config.isEmbedded) {
    const mark = markFile(config.storage.dataDir);
    await refuseUnfinishedRestore(mark, config.storage.dataDir);
    await refuseUsedDirectory(config.storage);
    await onBegun(mark);
  }
  const nats = await openNats(config, log, () => undefined, { isRestoring: true, as: 'operator' });
  try {
    const mark = config.isEmbedded
      ? markFile(config.storage.dataDir)
      : markRecord(nats.connections, config.nats.natsPrefix);
    if (!config.isEmbedded) await refuseUnfinishedRestore(mark, 'this NATS');
    const target = {
      ...storageOfCommand(config, nats.connections, log),
      installation: installationOf(config, nats.connections, nats.layout),
    };
    const raise = (level: number) => raiseFormat(nats.connections, new Names(config.nats.natsPrefix), level);
    return { target, mark, raiseFormat: raise, close: () => nats.close() };
  } catch (error) {
    await nats.close();
    throw error;
  }
}

function installationOf(config: Config, connections: NatsConnections, layout: ClusterLayout): Installation {
  return { ...copiedParts(layout), format: () => formatOf(connections, new Names(config.nats.natsPrefix)) };
}
