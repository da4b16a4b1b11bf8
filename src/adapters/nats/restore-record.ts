/** The mark of a restore (`restore-mark.ts`) on the NATS that several processes share: the key `restore` of the bucket `layout`. */
import { MillraceError } from '../../kernel/index.js';
import type { NatsConnections } from './connection.js';
import { JetStreamLeaseStore } from './jetstream-lease-store.js';
import { type MarkKeeper, parsedMark } from './restore-mark.js';
import { Names } from './subjects.js';

const MARK_KEY = 'restore';

export function markRecord(connections: NatsConnections, prefix: string): MarkKeeper {
  const store = new JetStreamLeaseStore(connections, new Names(prefix), 'layout');
  return {
    read: async () => {
      const found = await store.get(MARK_KEY);
      return found === undefined ? undefined : parsedMark(found.value);
    },
    write: async (mark) => {
      const value = Buffer.from(JSON.stringify(mark));
      const found = await store.get(MARK_KEY);
      const outcome = await (found === undefined
        ? store.create(MARK_KEY, value)
        : store.update(MARK_KEY, value, found.revision));
      if (outcome.kind === 'stored') return;
      const now = await store.get(MARK_KEY);
      if (now !== undefined && Buffer.compare(now.value, value) === 0) return;
      throw new MillraceError('CONFLICT', 'another restore into this installation is running');
    },
  };
}
