/** A journal and an object store that fail at the call with a given number, before or after it has had its effect. */
import { MillraceError } from '../../../src/kernel/index.js';
import type { Journal, ObjectStore } from '../../../src/ports/index.js';

export type FaultKind = 'before' | 'after';

export class Faults {
  calls = 0;
  constructor(
    private readonly failAt: number,
    private readonly kind: FaultKind,
  ) {}

  async call<T>(act: () => Promise<T>): Promise<T> {
    this.calls += 1;
    const fails = this.calls === this.failAt;
    if (fails && this.kind === 'before') throw fault();
    const result = await act();
    if (fails) throw fault();
    return result;
  }
}

function fault(): MillraceError {
  return new MillraceError('JOURNAL_UNAVAILABLE', 'a fault on purpose');
}

export function faultyObjects(objects: ObjectStore, faults: Faults): ObjectStore {
  return {
    put: (name, bytes) => faults.call(() => objects.put(name, bytes)),
    get: (name) => faults.call(() => objects.get(name)),
    list: (prefix) => faults.call(() => objects.list(prefix)),
    delete: (name) => faults.call(() => objects.delete(name)),
  };
}

export function faultyJournal(journal: Journal, faults: Faults): Journal {
  return {
    append: (shard, bytes, expectedLast) => journal.append(shard, bytes, expectedLast),
    readAt: (shard, position) => faults.call(() => journal.readAt(shard, position)),
    async *read(shard, from, to) {
      // Every message is a step at which the journal may stop answering.
      for await (const message of journal.read(shard, from, to)) yield await faults.call(async () => message);
    },
    follow: (shard, from, follower) => journal.follow(shard, from, follower),
    tail: (shard) => faults.call(() => journal.tail(shard)),
    truncateFront: (shard, keepFrom) => journal.truncateFront(shard, keepFrom),
  };
}
