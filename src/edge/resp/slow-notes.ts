/**
 * SLOWLOG for commands that a connection answers itself, such as PING and CLIENT: the owner of the database keeps the
 * log and never sees these commands. An owner's answer says if commands below a millisecond are logged; only then are
 * such commands timed here, and the slow ones are sent to the owner.
 *
 * - The notes of a database are sent before its next request from this process, or in the next round of the event
 *   loop, so that SLOWLOG contains the commands that its client sent before.
 * - At most `MAX_NOTES` of a database wait. Above it the oldest are dropped, as the log itself drops its oldest.
 */
import { type CommandSpec, findCommand, SLOW_NOTE } from '../../domain/kv/index.js';
import type { ByteString, DatabaseId } from '../../kernel/index.js';
import type { Clock, KvGateway, KvGrant, Timers } from '../../ports/index.js';
import { bytesOfWords } from '../commands/admission.js';
import type { ClientState } from './client-state.js';

/** The default length of the log. */
const MAX_NOTES = 128;
const REDACTED = '(redacted)';

interface Pending {
  readonly grant: KvGrant;
  readonly notes: ByteString[][];
}

export class SlowNotes {
  readonly #thresholds = new Map<DatabaseId, number>();
  readonly #pending = new Map<DatabaseId, Pending>();

  constructor(
    private readonly gateway: KvGateway,
    private readonly clock: Clock,
    private readonly timers: Timers,
  ) {}

  /** Takes the threshold from the owner's last answer; undefined: only commands of a millisecond or more are logged. */
  learn(database: DatabaseId, slowerThanMicros: number | undefined): void {
    if (slowerThanMicros !== undefined) this.#thresholds.set(database, slowerThanMicros);
    else if (this.#thresholds.size > 0) this.#thresholds.delete(database);
  }

  /** Runs a command, and times it if its database logs such commands. */
  timed<T>(client: ClientState, words: readonly ByteString[], run: () => T): T {
    if (this.#thresholds.size === 0) return run();
    const startedAtMs = this.clock.monotonicMs();
    const answer = run();
    const { grant } = client;
    const threshold = grant === undefined ? undefined : this.#thresholds.get(grant.database);
    const micros = Math.round((this.clock.monotonicMs() - startedAtMs) * 1000);
    const spec = findCommand(words);
    if (grant === undefined || threshold === undefined || micros < threshold || spec === undefined) return answer;
    if (!spec.flags.includes('skip-slowlog')) this.#note(client, grant, micros, shownWords(spec, words));
    return answer;
  }

  #note(client: ClientState, grant: KvGrant, micros: number, words: readonly ByteString[]): void {
    let pending = this.#pending.get(grant.database);
    if (pending === undefined) {
      pending = { grant, notes: [] };
      this.#pending.set(grant.database, pending);
      this.timers.soon(() => this.flush(grant.database));
    }
    const { notes } = pending;
    notes.push([SLOW_NOTE, String(micros), client.address, client.name, ...words]);
    if (notes.length > MAX_NOTES) notes.shift();
  }

  /** Sends the notes of the database to its owner. */
  flush(database: DatabaseId): void {
    if (this.#pending.size === 0) return;
    const pending = this.#pending.get(database);
    if (pending === undefined) return;
    this.#pending.delete(database);
    const { grant, notes } = pending;
    const [partition] = grant.partitions;
    if (partition === undefined) return;
    const bytes = notes.reduce((sum, words) => sum + bytesOfWords(words), 0);
    this.gateway.execute({ database, partition, mode: 'pipeline', commands: notes, bytes }).then(
      ({ slowerThanMicros }) => this.learn(database, slowerThanMicros),
      // The log is lost with its owner in any case, so a lost note is not sent again.
      () => undefined,
    );
  }
}

/** Without secrets, as in Redis. */
function shownWords({ name }: CommandSpec, words: readonly ByteString[]): readonly ByteString[] {
  const length = name.includes(' ') ? 2 : 1;
  if (/^(AUTH|ACL (SETUSER|RESTTOKEN|GENTOKEN))$/.test(name)) return redacted(words, length);
  if (name !== 'HELLO') return words;
  const at = words.findIndex((word) => /^auth$/i.test(word));
  return at < 0 ? words : redacted(words, at + 1);
}

function redacted(words: readonly ByteString[], from: number): ByteString[] {
  return words.map((word, index) => (index < from ? word : REDACTED));
}
