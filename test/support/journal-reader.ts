/** Reads the journals of an installation directly from its nats-server, while processes write them. */
import {
  connect,
  JetStreamJournal,
  JetStreamObjectStore,
  Names,
  type NatsOptions,
} from '../../src/adapters/nats/index.js';
import type { ReadEntry } from '../../src/codec/envelope/index.js';
import { Chain, readEntries, verifyShard } from '../../src/journal/index.js';
import type { ShardName } from '../../src/kernel/index.js';
import { silentLog } from './silent-log.js';

export interface JournalReader {
  /** All stored entries. @throws JOURNAL_DAMAGED if the chain does not verify */
  entries(shard: string): Promise<ReadEntry[]>;
  /** @returns one line for each defect */
  findings(shard: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function openJournalReader(options: NatsOptions, prefix = ''): Promise<JournalReader> {
  const connections = await connect(options);
  const names = new Names(prefix);
  const journal = new JetStreamJournal(connections, names);
  const objects = new JetStreamObjectStore(connections, names);
  return {
    async entries(shard) {
      const name = shard as ShardName;
      const { first, last } = await journal.tail(name);
      const entries: ReadEntry[] = [];
      for await (const read of readEntries(journal, new Chain(name, undefined), first, last)) entries.push(read);
      return entries;
    },
    async findings(shard) {
      const { findings } = await verifyShard({ journal, objects, log: silentLog }, shard as ShardName);
      return findings.map(({ reason, position }) => `${shard} at ${position}: ${reason}`);
    },
    close: () => connections.close(),
  };
}

/** Epochs with several writers, and epochs that decrease; fencing must prevent both. */
export function ownershipViolations(entries: readonly ReadEntry[]): string[] {
  const writerByEpoch = new Map<number, string>();
  const violations: string[] = [];
  let latest = 0;
  for (const { position, entry } of entries) {
    const writer = Buffer.from(entry.writer).toString('hex');
    const known = writerByEpoch.get(entry.epoch);
    if (known !== undefined && known !== writer) violations.push(`epoch ${entry.epoch} has two writers at ${position}`);
    if (entry.epoch < latest) violations.push(`epoch ${entry.epoch} at ${position} follows epoch ${latest}`);
    writerByEpoch.set(entry.epoch, writer);
    latest = Math.max(latest, entry.epoch);
  }
  return violations;
}
