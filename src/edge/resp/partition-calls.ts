/** What one client asks of partitions: batches, commands that wait, watches and transactions; metered. */
import {
  type CommandSpec,
  ErrorReply,
  isHeldWithWrites,
  isWrite,
  mayRunWrites,
  type Reply,
} from '../../domain/kv/index.js';
import { type ByteString, isMillraceError, type PartitionName } from '../../kernel/index.js';
import type { KvWatch } from '../../messages/index.js';
import type { KvGrant } from '../../ports/index.js';
import { QUOTA_EXCEEDED } from '../kv/command-batch.js';
import type { AdmittedCommands, RequestDetails, RoutedReplies } from '../kv/partition-routing.js';
import type { RespBatch } from './command-batch.js';
import { clientLine } from './commands/client-line.js';
import { failureText } from './failure-text.js';
import type { RespClient } from './resp-client.js';
import type { RespFace } from './resp-face.js';

/** A command that has waited this long was known to its owner; one whose owner has gone may wait again. */
const REGISTERED_AFTER_MS = 1_000;

export class PartitionCalls {
  #waiters = 0;
  /** What was asked last and has not been answered. */
  #open: { readonly grant: KvGrant; readonly batch: RespBatch } | undefined;

  constructor(
    private readonly face: RespFace,
    private readonly client: RespClient,
  ) {}

  /**
   * The answers of the batch, in order. Most of the time nothing is in the way, and the request leaves at once,
   * without a promise more than it takes.
   */
  runBatch(grant: KvGrant, batch: RespBatch): Promise<Iterator<Reply>> {
    if (this.face.pauses.areNone) return this.#takeBatch(grant, batch);
    return this.#whileHeldUp(grant, batch).then(() =>
      this.client.isClosed ? batch.answers([]) : this.#takeBatch(grant, batch),
    );
  }

  #takeBatch(grant: KvGrant, batch: RespBatch): Promise<Iterator<Reply>> {
    const taken = this.face.parts.quota.take(grant, batch.commands.length, batch.bytes);
    return taken === true ? this.#askBatch(grant, batch) : this.#askWhatIsLeft(grant, batch, taken);
  }

  #askBatch(grant: KvGrant, batch: RespBatch): Promise<Iterator<Reply>> {
    const mode = batch.commands.length === 1 ? 'single' : 'pipeline';
    const startedAtMs = this.face.parts.clock.monotonicMs();
    const open = { grant, batch };
    this.#open = open;
    // As `#metered` does it, in one promise less: this is the way of nearly every command.
    return this.face.router.run(grant, mode, batch, this.#details(batch.isTracked)).then(
      (routed) => {
        if (this.#open === open) this.#open = undefined;
        this.#record(grant, batch, routed, startedAtMs);
        if (batch.scriptKeys.size > 0) this.#forgetUnread(grant, batch.scriptKeys, routed.scriptReads);
        return batch.answers(routed.replies);
      },
      (failure: unknown) => {
        if (this.#open === open) this.#open = undefined;
        const refusal = new ErrorReply(failureText(this.face, failure));
        return batch.answers(batch.commands.map(() => refusal));
      },
    );
  }

  /** The day may not have room for all of them. */
  async #askWhatIsLeft(grant: KvGrant, batch: RespBatch, taken: boolean | Promise<boolean>): Promise<Iterator<Reply>> {
    try {
      if (await taken) return this.#askBatch(grant, batch);
      batch.keepFirst(await this.#takeSingly(grant, batch.commands.length), QUOTA_EXCEEDED);
    } catch (failure) {
      // Nothing was asked of a partition: every command of the batch hears why, and the connection goes on.
      batch.keepFirst(0, new ErrorReply(failureText(this.face, failure)));
    }
    return batch.isEmpty ? batch.answers([]) : this.#askBatch(grant, batch);
  }

  /** A command that may wait at its owner until there is something to answer. */
  async runBlocking(grant: KvGrant, spec: CommandSpec, words: readonly ByteString[], bytes: number): Promise<Reply> {
    const { client, face } = this;
    const { clock, quota } = face.parts;
    const admitted = { specs: [spec], commands: [words], bytes };
    this.#waiters += 1;
    const waiter = `${client.identity.id}:${this.#waiters}`;
    // From the start: the connection lets go of what it holds for answers.
    client.blocked = { grant, partition: face.router.partitionOf(grant, admitted), waiter, spec, words };
    try {
      await this.#whileHeldUp(grant, admitted);
      if (!(await quota.take(grant, 1, bytes))) return QUOTA_EXCEEDED;
      // Gone before its owner has heard of it: there would be nobody to give it up.
      if (client.isClosed) return null;
      for (;;) {
        const askedAtMs = clock.monotonicMs();
        try {
          const { replies } = await this.#ask(grant, 'single', admitted, { ...this.#details(false), waiter });
          return replies[0] as Reply;
        } catch (failure) {
          const mayAskAgain = isMillraceError(failure, 'NOT_APPLIED') || isMillraceError(failure, 'SHARD_UNAVAILABLE');
          const hasWaited = clock.monotonicMs() - askedAtMs > REGISTERED_AFTER_MS;
          if (!mayAskAgain || !hasWaited || client.isClosed) throw failure;
        }
      }
    } finally {
      client.blocked = undefined;
    }
  }

  /** The client has gone: a script of its that takes long is for nobody. */
  giveUpScripts(): void {
    const open = this.#open;
    if (open === undefined) return;
    const { face, client } = this;
    const { grant, batch } = open;
    for (const [at, spec] of batch.specs.entries()) {
      if (!spec.flags.includes('script')) continue;
      const command = { specs: [spec], commands: [batch.commands[at] as readonly ByteString[]], bytes: 0 };
      const partition = face.router.partitionOf(grant, command);
      unblock(face, { grant, partition, waiter: client.identity.id }, 'GONE').catch(() => undefined);
      // Whichever of them runs there is ended; one that has not begun runs.
      return;
    }
  }

  giveUpWaiting(): void {
    const { blocked } = this.client;
    if (blocked === undefined) return;
    // Nobody is left to be told how it went.
    unblock(this.face, blocked, 'GONE').catch(() => undefined);
  }

  /** @param admitted all of one slot, that of `partition` */
  async runTransaction(
    grant: KvGrant,
    partition: PartitionName,
    admitted: AdmittedCommands,
    watches: readonly KvWatch[],
    isTracked: boolean,
  ): Promise<RoutedReplies> {
    await this.#whileHeldUp(grant, admitted);
    if (!(await this.face.parts.quota.take(grant, admitted.commands.length, admitted.bytes))) {
      return { replies: admitted.commands.map(() => QUOTA_EXCEEDED), syncToken: undefined };
    }
    const { commands, bytes } = admitted;
    return this.#metered(grant, admitted, () =>
      this.face.parts.gateway.execute({
        database: grant.database,
        partition,
        mode: 'transaction',
        commands,
        bytes,
        ...this.#details(isTracked),
        ...(watches.length === 0 ? {} : { watches: watches.map(({ keys, mark }) => ({ keys, mark })) }),
      }),
    );
  }

  #forgetUnread(grant: KvGrant, keys: Set<ByteString>, reads: readonly ByteString[] | undefined): void {
    if (reads === undefined) return;
    for (const key of reads) keys.delete(key);
    this.face.tracking.forget(this.client, grant, keys);
  }

  #details(isTracked: boolean): RequestDetails {
    const { identity } = this.client;
    return isTracked ? { client: identity, trackFor: this.face.parts.events.edge } : { client: identity };
  }

  #ask(
    grant: KvGrant,
    mode: 'single' | 'pipeline',
    admitted: AdmittedCommands,
    details: RequestDetails,
  ): Promise<RoutedReplies> {
    return this.#metered(grant, admitted, () => this.face.router.run(grant, mode, admitted, details));
  }

  #metered(grant: KvGrant, admitted: AdmittedCommands, run: () => Promise<RoutedReplies>): Promise<RoutedReplies> {
    const startedAtMs = this.face.parts.clock.monotonicMs();
    return run().then((routed) => {
      this.#record(grant, admitted, routed, startedAtMs);
      return routed;
    });
  }

  #record(
    { database }: KvGrant,
    admitted: AdmittedCommands & { readonly writes?: number },
    { replies, isFull, denials }: RoutedReplies,
    startedAtMs: number,
  ): void {
    const { clock, meter, acl } = this.face.parts;
    for (const denial of denials ?? []) acl?.noteDenied(database, denial, clientLine(this.client), 'lua');
    this.face.fullDatabases.note(database, isFull === true);
    meter.recordKv(database, {
      commands: admitted.commands.length,
      writes: admitted.writes ?? admitted.specs.filter(isWrite).length,
      bytesIn: admitted.bytes,
      bytesOut: bytesOfReplies(replies),
      durationMs: clock.monotonicMs() - startedAtMs,
      specs: admitted.specs,
    });
  }

  async #whileHeldUp(grant: KvGrant, admitted: AdmittedCommands): Promise<void> {
    const { pauses } = this.face;
    for (;;) {
      const held = pauses.of(grant.database);
      if (held === undefined || this.client.isClosed) return;
      if (held === 'writes' && !(await this.#mayWrite(grant, admitted))) return;
      await pauses.hold(this.client, grant);
    }
  }

  /** Of scripts their owner knows. */
  async #mayWrite(grant: KvGrant, { specs, commands }: AdmittedCommands): Promise<boolean> {
    if (specs.some((spec) => isHeldWithWrites(spec) && !mayRunWrites(spec))) return true;
    for (const [index, spec] of specs.entries()) {
      if (mayRunWrites(spec) && !(await this.#readsOnly(grant, spec, commands[index] as readonly ByteString[])))
        return true;
    }
    return false;
  }

  async #readsOnly(grant: KvGrant, spec: CommandSpec, words: readonly ByteString[]): Promise<boolean> {
    const { router, parts } = this.face;
    const partition = router.partitionOf(grant, { specs: [spec], commands: [words], bytes: 0 });
    const [name = '', script = ''] = words;
    try {
      const { replies } = await parts.gateway.execute({
        database: grant.database,
        partition,
        mode: 'reads-only',
        commands: [[name, script]],
        bytes: name.length + script.length,
      });
      return replies[0] === 1;
    } catch {
      // It is held up like one that nobody knows.
      return false;
    }
  }

  /** How many of `wanted` the day still has room for, when it has none for all together. */
  async #takeSingly(grant: KvGrant, wanted: number): Promise<number> {
    for (let taken = 0; taken < wanted; taken += 1) {
      if (wanted === 1 || !(await this.face.parts.quota.take(grant, 1))) return taken;
    }
    return wanted;
  }
}

/** Sends a waiting command of a client away. @returns was it waiting? */
export async function unblock(
  face: RespFace,
  { grant, partition, waiter }: Pick<NonNullable<RespClient['blocked']>, 'grant' | 'partition' | 'waiter'>,
  how: 'TIMEOUT' | 'ERROR' | 'GONE',
): Promise<boolean> {
  const { database } = grant;
  const commands = [[waiter, how]];
  const { replies } = await face.parts.gateway.execute({
    database,
    partition,
    mode: 'unblock',
    commands,
    bytes: waiter.length,
  });
  return replies[0] === 1;
}

/** Bytes of the strings at the top of them; what is in lists is counted roughly, by the piece. */
function bytesOfReplies(replies: readonly Reply[]): number {
  let bytes = 0;
  for (const reply of replies) {
    if (typeof reply === 'string') bytes += reply.length;
    else if (Array.isArray(reply)) bytes += listBytes(reply as readonly Reply[]);
  }
  return bytes;
}

function listBytes(items: readonly Reply[]): number {
  let bytes = 0;
  for (const item of items) bytes += typeof item === 'string' ? item.length : 8;
  return bytes;
}
