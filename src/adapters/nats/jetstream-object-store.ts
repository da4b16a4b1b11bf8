/**
 * Objects in an object store bucket, in the layout of the standard clients: pieces on a separate subject, then one
 * description with size and SHA-256.
 *
 *  JO1 an object is visible once its description is stored, which is after all of its pieces
 *  JO2 a description is stored only if there is none: a name is written once
 *  JO3 bytes that do not match the description are never returned
 *  JO4 a failed try leaves at most pieces that no description names; `sweepLoose` removes them
 */
import { createHash } from 'node:crypto';
import { nuid } from 'nats';
import { MillraceError } from '../../kernel/index.js';
import type { AppendOutcome, ObjectInfo, ObjectStore } from '../../ports/index.js';
import type { NatsConnections } from './connection.js';
import { JetStreamApi } from './jetstream-api.js';
import { journalUnavailable } from './link.js';
import { readStream } from './stream-reader.js';
import { base64Url, type Names } from './subjects.js';

/** The standard clients cut at this, and well below any server's largest message. */
const CHUNK_BYTES = 128 * 1024;
/** Pieces in flight: 2 MiB, little enough to share a connection with leases. */
const CHUNKS_IN_FLIGHT = 16;
/** Eight pieces: parsed in a few milliseconds. */
const READ_ROUND = { messages: 8, bytes: 2 * 1024 * 1024 };
const HASH_SLICE_BYTES = 1024 * 1024;
const DESCRIPTIONS_IN_FLIGHT = 32;
const TIMEOUT_MS = 10_000;

/** The standard layout's description; other fields are kept by those who wrote them. */
interface Description {
  readonly name: string;
  readonly nuid: string;
  readonly size: number;
  readonly chunks: number;
  readonly digest: string;
  readonly deleted?: boolean;
}

interface Described extends Description {
  readonly position: number;
}

export class JetStreamObjectStore implements ObjectStore {
  readonly #control: JetStreamApi;
  readonly #reads: JetStreamApi;
  readonly #stream: string;
  /** Subjects of pieces that no description named at the last check. */
  #loose: ReadonlySet<string> = new Set();

  constructor(
    connections: Pick<NatsConnections, 'control' | 'reads'>,
    private readonly names: Names,
  ) {
    this.#control = new JetStreamApi(connections.control, TIMEOUT_MS);
    this.#reads = new JetStreamApi(connections.reads, TIMEOUT_MS);
    this.#stream = names.objectStream();
  }

  /** @throws CONFLICT when the name has other contents; JOURNAL_UNAVAILABLE */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    const digest = await digestOf(bytes);
    const existing = await this.#describe(name);
    if (existing !== undefined && existing.deleted !== true) return assertSame(existing, name, digest);
    const id = nuid.next();
    const chunks = await this.#storeChunks(name, id, bytes);
    const description = {
      name,
      options: { max_chunk_size: CHUNK_BYTES },
      bucket: this.names.objectStore(),
      nuid: id,
      size: bytes.byteLength,
      chunks,
      digest,
      mtime: new Date().toISOString(),
      deleted: false,
    };
    const subject = this.names.objectDescriptionSubject(name);
    const outcome = await this.#publish(subject, JSON.stringify(description), existing?.position ?? 0);
    if (outcome.kind === 'stored') return;
    // After an unknown outcome the description may exist, and then its pieces must too.
    if (outcome.kind === 'unknown') throw journalUnavailable(outcome.cause, { name });
    await this.#purgeChunks(id);
    const winner = outcome.kind === 'conflict' ? await this.#describe(name) : undefined;
    if (winner !== undefined) return assertSame(winner, name, digest);
    throw journalUnavailable(undefined, { name, outcome: outcome.kind });
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    const description = await this.#describe(name);
    if (description === undefined || description.deleted === true) return undefined;
    try {
      const bytes = await this.#fetchChunks(description);
      if ((await digestOf(bytes)) !== description.digest) throw damaged(name, 'its bytes do not match their digest');
      return bytes;
    } catch (error) {
      // The object was deleted or replaced during the read, so it was not damaged.
      const now = await this.#describe(name);
      if (now === undefined || now.deleted === true) return undefined;
      throw error;
    }
  }

  async list(prefix: string): Promise<ObjectInfo[]> {
    const infos: ObjectInfo[] = [];
    for await (const { name, size } of this.#described(prefix)) infos.push({ name, bytes: size });
    return infos;
  }

  async delete(name: string): Promise<void> {
    const description = await this.#describe(name);
    if (description === undefined) return;
    const filter = this.names.objectDescriptionSubject(name);
    await this.#control.purge(this.#stream, { filter });
    if (description.deleted !== true) await this.#purgeChunks(description.nuid);
  }

  /**
   * Removes pieces that no description named at the last check either (JO4); checks must be further apart than the
   * writing of an object. @returns the number of objects. @throws JOURNAL_UNAVAILABLE
   */
  async sweepLoose(): Promise<number> {
    const { chunks } = this.names.objectSubjects();
    // Pieces are listed first, because those of an object that is described during the check are then named.
    const loose = new Set((await this.#control.subjects(this.#stream, chunks)).keys());
    for await (const { nuid: id } of this.#described('')) loose.delete(this.names.objectChunkSubject(id));
    const before = this.#loose;
    this.#loose = loose;
    const over = [...loose].filter((subject) => before.has(subject));
    for (const filter of over) await this.#control.purge(this.#stream, { filter });
    return over.length;
  }

  /** Objects with this prefix, in order of their names. */
  async *#described(prefix: string): AsyncGenerator<Described> {
    const { descriptions } = this.names.objectSubjects();
    const subjects = await this.#control.subjects(this.#stream, descriptions);
    const names = [...subjects.keys()]
      .map((subject) => this.names.nameOfDescriptionSubject(subject))
      .filter((name) => name.startsWith(prefix))
      .sort();
    for (let at = 0; at < names.length; at += DESCRIPTIONS_IN_FLIGHT) {
      const some = names.slice(at, at + DESCRIPTIONS_IN_FLIGHT);
      for (const found of await Promise.all(some.map((name) => this.#describe(name)))) {
        if (found !== undefined && found.deleted !== true) yield found;
      }
    }
  }

  async #describe(name: string): Promise<Described | undefined> {
    const subject = this.names.objectDescriptionSubject(name);
    const found = await this.#control.message(this.#stream, { last_by_subj: subject });
    if (found === undefined) return undefined;
    return { ...found.json<Description>(), position: found.seq };
  }

  /** The number of pieces. @throws JOURNAL_UNAVAILABLE; the pieces are then removed if possible */
  async #storeChunks(name: string, id: string, bytes: Uint8Array): Promise<number> {
    const subject = this.names.objectChunkSubject(id);
    const count = Math.ceil(bytes.byteLength / CHUNK_BYTES);
    let last = 0;
    for (let at = 0; at < count; at += CHUNKS_IN_FLIGHT) {
      const window = Array.from({ length: Math.min(CHUNKS_IN_FLIGHT, count - at) }, (_, index) => {
        const from = (at + index) * CHUNK_BYTES;
        return this.#publish(subject, bytes.subarray(from, from + CHUNK_BYTES));
      });
      for (const outcome of await Promise.all(window)) {
        if (outcome.kind === 'stored' && outcome.position > last) {
          last = outcome.position;
          continue;
        }
        await this.#purgeChunks(id);
        const details = { name, outcome: outcome.kind, ...('reason' in outcome ? { reason: outcome.reason } : {}) };
        throw journalUnavailable('cause' in outcome ? outcome.cause : undefined, details);
      }
    }
    return count;
  }

  #publish(subject: string, bytes: Uint8Array | string, expectedLastOnSubject?: number): Promise<AppendOutcome> {
    return this.#control.publish({ stream: this.#stream, subject }, bytes, expectedLastOnSubject);
  }

  async #fetchChunks({ name, nuid: id, size, chunks }: Description): Promise<Uint8Array> {
    const bytes = new Uint8Array(size);
    if (chunks === 0) return bytes;
    const subject = this.names.objectChunkSubject(id);
    // A single piece is read without a consumer. A server that does not have it yet is late: the consumer waits for it.
    const single = chunks === 1 ? await this.#control.message(this.#stream, { last_by_subj: subject }) : undefined;
    const piece = single?.data;
    if (piece?.byteLength === size) return piece;
    const options = {
      stream: this.#stream,
      from: 1,
      filterSubject: subject,
      round: READ_ROUND,
      timeoutMs: TIMEOUT_MS,
      name: `the object ${name} in ${this.#stream}`,
    };
    let at = 0;
    let received = 0;
    try {
      for await (const some of readStream(this.#reads, options)) {
        for (const chunk of some) {
          if (at + chunk.bytes.byteLength > size) throw damaged(name, 'it has more bytes than its description says');
          bytes.set(chunk.bytes, at);
          at += chunk.bytes.byteLength;
        }
        received += some.length;
        if (received >= chunks) break;
      }
    } catch (error) {
      const stored = (await this.#control.subjects(this.#stream, subject)).get(subject) ?? 0;
      throw stored < chunks ? damaged(name, `it has ${stored} of ${chunks} pieces`) : error;
    }
    if (at !== size) throw damaged(name, `it has ${at} of ${size} bytes`);
    return bytes;
  }

  /** Best effort: pieces without a description are garbage, not damage. */
  async #purgeChunks(id: string): Promise<void> {
    const filter = this.names.objectChunkSubject(id);
    await this.#control.purge(this.#stream, { filter }).catch(() => {});
  }
}

function assertSame(existing: Description, name: string, digest: string): void {
  if (existing.digest === digest) return;
  throw new MillraceError('CONFLICT', 'an object of that name has other contents', { name });
}

function damaged(name: string, reason: string): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `an object is damaged: ${reason}`, { name });
}

/** In slices with other work in between, because a large object must not block the event loop. */
async function digestOf(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < bytes.byteLength; at += HASH_SLICE_BYTES) {
    if (at > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    hash.update(bytes.subarray(at, at + HASH_SLICE_BYTES));
  }
  return `SHA-256=${base64Url(hash.digest())}`;
}
