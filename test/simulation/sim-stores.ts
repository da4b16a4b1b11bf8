/** The lease store and the object store of one simulated process, over the shared server. */
import { MillraceError } from '../../src/kernel/index.js';
import type { LeaseOutcome, LeaseRecord, LeaseStore, ObjectInfo, ObjectStore } from '../../src/ports/index.js';
import { unavailable } from './sim-journal.js';
import type { SimLink } from './sim-link.js';
import type { SimServer } from './sim-server.js';

/** The buckets are streams and lose their leader like other streams. */
export const LEASES = 'leases';
const OBJECTS = 'objects';

export class SimLeaseStore implements LeaseStore {
  constructor(
    private readonly link: SimLink,
    private readonly server: SimServer,
    private readonly timeoutMs: number,
  ) {}

  get(key: string): Promise<LeaseRecord | undefined> {
    return this.read(`get ${key}`, () => {
      const record = this.server.recordSchema(key);
      if (record === undefined) return undefined;
      // The server's clock has whole milliseconds.
      return { ...record, value: new Uint8Array(record.value), storedAtMs: Math.floor(record.storedAtMs) };
    });
  }

  keys(prefix: string): Promise<string[]> {
    return this.read(`keys ${prefix}`, () => this.server.keys(prefix));
  }

  create(key: string, value: Uint8Array): Promise<LeaseOutcome> {
    return this.write(`create ${key}`, key, value, () => this.server.record(key) === undefined);
  }

  update(key: string, value: Uint8Array, revision: number): Promise<LeaseOutcome> {
    return this.write(`update ${key}`, key, value, () => this.server.record(key)?.revision === revision);
  }

  async delete(key: string): Promise<void> {
    await this.link.request<undefined>(LEASES, `delete ${key}`, this.timeoutMs, (reply) =>
      this.server.withLeader(
        LEASES,
        () => {
          this.server.deleteRecord(key);
          reply(undefined);
        },
        () => {},
      ),
    );
  }

  private async write(label: string, key: string, value: Uint8Array, fits: () => boolean): Promise<LeaseOutcome> {
    const copy = new Uint8Array(value);
    const answer = await this.link.request<LeaseOutcome>(LEASES, label, this.timeoutMs, (reply) =>
      this.server.withLeader(
        LEASES,
        () => reply(fits() ? { kind: 'stored', revision: this.server.putRecord(key, copy) } : { kind: 'conflict' }),
        () => reply({ kind: 'unknown', cause: unavailable('no responders') }),
      ),
    );
    return answer.kind === 'answered'
      ? answer.value
      : { kind: 'unknown', cause: unavailable(`${label}: ${answer.kind}`) };
  }

  private async read<T>(label: string, look: () => T): Promise<T> {
    const answer = await this.link.request<T>(LEASES, label, this.timeoutMs, (reply) =>
      this.server.withLeader(
        LEASES,
        () => reply(look()),
        () => {},
      ),
    );
    if (answer.kind !== 'answered') throw unavailable(`${label}: ${answer.kind}`);
    return answer.value;
  }
}

export class SimObjectStore implements ObjectStore {
  constructor(
    private readonly link: SimLink,
    private readonly server: SimServer,
    private readonly timeoutMs: number,
  ) {}

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const copy = new Uint8Array(bytes);
    const isSame = await this.ask(`put ${name}`, () => {
      const present = this.server.objects.get(name);
      if (present === undefined) this.server.objects.set(name, copy);
      return present === undefined || Buffer.compare(present, copy) === 0;
    });
    if (!isSame) throw new MillraceError('CONFLICT', `object ${name} is there already, with other contents`, { name });
  }

  get(name: string): Promise<Uint8Array | undefined> {
    return this.ask(`get ${name}`, () => {
      const bytes = this.server.objects.get(name);
      return bytes === undefined ? undefined : new Uint8Array(bytes);
    });
  }

  list(prefix: string): Promise<ObjectInfo[]> {
    return this.ask(`list ${prefix}`, () =>
      [...this.server.objects]
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, bytes]) => ({ name, bytes: bytes.length })),
    );
  }

  async delete(name: string): Promise<void> {
    await this.ask(`delete ${name}`, () => this.server.objects.delete(name));
  }

  private async ask<T>(label: string, look: () => T): Promise<T> {
    const answer = await this.link.request<T>(OBJECTS, label, this.timeoutMs, (reply) =>
      this.server.withLeader(
        OBJECTS,
        () => reply(look()),
        () => {},
      ),
    );
    if (answer.kind !== 'answered') throw unavailable(`${label}: ${answer.kind}`);
    return answer.value;
  }
}
