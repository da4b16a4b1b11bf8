/** Compares the files of a process that was just killed with the journal at that moment. */
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, JetStreamJournal, Names, type NatsOptions } from '../../src/adapters/nats/index.js';
import { SqliteFiles } from '../../src/adapters/sqlite/index.js';
import type { ShardName } from '../../src/kernel/index.js';

export const READ_MODEL_FILES = ['messages.db', 'stats.db'] as const;

/** The last position of the journal. */
export interface JournalEnd {
  position(shard: string): Promise<number>;
  close(): Promise<void>;
}

export async function openJournalEnd(options: NatsOptions): Promise<JournalEnd> {
  const connections = await connect(options);
  const journal = new JetStreamJournal(connections, new Names(''));
  return {
    position: async (shard) => (await journal.tail(shard as ShardName)).last,
    close: () => connections.close(),
  };
}

/**
 * The position up to which a file was folded when its process died; 0 if there is no file. It reads a copy, because
 * opening a file repairs it, and the next process must do that itself.
 */
export async function foldedPosition(dataDir: string, file: string, shard: string): Promise<number> {
  const copy = join(dataDir, 'copy-of-read-models');
  await cp(join(dataDir, 'read-models'), copy, { recursive: true });
  const opened = new SqliteFiles(join(copy, file)).open();
  try {
    const row = opened.prepare('SELECT position FROM shards WHERE shard = ?').get([shard]);
    return Number(row?.position ?? 0);
  } finally {
    opened.close();
    await rm(copy, { recursive: true, force: true });
  }
}
