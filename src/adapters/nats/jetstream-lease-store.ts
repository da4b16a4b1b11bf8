/**
 * Leases in a key-value bucket: a stream with one subject for each key, which keeps the last message of each. Its
 * layout is that of the standard clients, so that an operator can read it.
 *
 *  JL1 a change is one conditional publish; it is not repeated here
 *  JL2 any outcome that is not certainly a conflict or a success is `unknown`: the caller reads the record
 */
import type { LeaseOutcome, LeaseRecord, LeaseStore } from '../../ports/index.js';
import type { NatsConnections } from './connection.js';
import { JetStreamApi } from './jetstream-api.js';
import { journalUnavailable } from './link.js';
import type { BucketName, Names } from './subjects.js';

/** Shorter than a lease, so that an owner knows in time that it could not renew. */
const TIMEOUT_MS = 2000;

/** A standard client deletes by storing a message with one of these. */
const DELETIONS = ['DEL', 'PURGE'];

export class JetStreamLeaseStore implements LeaseStore {
  readonly #stream: string;
  readonly #api: JetStreamApi;

  constructor(
    connections: Pick<NatsConnections, 'control'>,
    private readonly names: Names,
    private readonly bucket: BucketName = 'leases',
  ) {
    this.#stream = names.bucketStream(bucket);
    this.#api = new JetStreamApi(connections.control, TIMEOUT_MS);
  }

  async get(key: string): Promise<LeaseRecord | undefined> {
    const subject = this.names.bucketKeySubject(this.bucket, key);
    const found = await this.#api.message(this.#stream, { last_by_subj: subject });
    if (found === undefined || DELETIONS.includes(found.header.get('KV-Operation'))) return undefined;
    return { value: found.data, revision: found.seq, storedAtMs: found.time.getTime() };
  }

  async keys(prefix: string): Promise<string[]> {
    const subjects = await this.#api.subjects(this.#stream, this.names.bucketSubjects(this.bucket));
    return [...subjects.keys()]
      .map((subject) => this.names.keyOfBucketSubject(this.bucket, subject))
      .filter((key) => key.startsWith(prefix))
      .sort();
  }

  create(key: string, value: Uint8Array): Promise<LeaseOutcome> {
    return this.#store(key, value, 0);
  }

  update(key: string, value: Uint8Array, revision: number): Promise<LeaseOutcome> {
    return this.#store(key, value, revision);
  }

  async delete(key: string): Promise<void> {
    const filter = this.names.bucketKeySubject(this.bucket, key);
    await this.#api.purge(this.#stream, { filter });
  }

  async #store(key: string, value: Uint8Array, expectedLastOnSubject: number): Promise<LeaseOutcome> {
    const subject = this.names.bucketKeySubject(this.bucket, key);
    const outcome = await this.#api.publish({ stream: this.#stream, subject }, value, expectedLastOnSubject);
    switch (outcome.kind) {
      case 'stored':
        return { kind: 'stored', revision: outcome.position };
      case 'conflict':
        return { kind: 'conflict' };
      case 'unknown':
        return outcome;
      default:
        return { kind: 'unknown', cause: journalUnavailable(undefined, { key, reason: outcome.reason }) };
    }
  }
}
