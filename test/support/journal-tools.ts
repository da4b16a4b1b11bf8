/** In-memory parts that `millrace journal` needs in addition to a journal: leases, a key for checkpoints, and files. */
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { JournalCommandDeps } from '../../src/cli/journal-command.js';
import { fingerprintOf } from '../../src/journal/index.js';
import { MillraceError, type ShardName } from '../../src/kernel/index.js';
import { foldOfPartition } from '../../src/replay/index.js';
import { MemoryLeaseStore } from './memory/index.js';

/** An instant later than any in a test's history. */
const LATE_MS = 4_000_000_000_000;

export interface JournalTools
  extends Pick<
    JournalCommandDeps,
    'foldFactory' | 'shards' | 'logs' | 'clock' | 'random' | 'checkpoints' | 'serveReplay' | 'progress'
  > {
  readonly leases: MemoryLeaseStore;
  /** The files, by path. */
  readonly files: Map<string, string>;
}

export function journalTools(...shards: readonly ShardName[]): JournalTools {
  const files = new Map<string, string>();
  let key: KeyObject | undefined;
  return {
    leases: new MemoryLeaseStore(),
    files,
    foldFactory: foldOfPartition,
    shards,
    logs: [],
    clock: { nowMs: () => LATE_MS, monotonicMs: () => 0 },
    random: { bytes: (count) => new Uint8Array(count), float: () => 0 },
    checkpoints: {
      clusterId: 'cluster-for-tests',
      signingKey: async () => {
        key ??= generateKeyPairSync('ed25519').privateKey;
        return key;
      },
      fingerprint: async () =>
        key === undefined ? undefined : fingerprintOf(createPublicKey(key).export({ type: 'spki', format: 'der' })),
      readFile: async (path) => {
        const text = files.get(path);
        if (text === undefined) throw new MillraceError('NOT_FOUND', `there is no ${path}`);
        return text;
      },
      writeFile: async (path, text) => void files.set(path, text),
    },
    progress: () => undefined,
    serveReplay: async () => {
      throw new MillraceError('DEFECT', 'these tools serve no shard');
    },
  };
}
