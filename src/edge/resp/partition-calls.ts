/** One client's requests to partitions: batches, blocking commands, watches and transactions, with metering. */
import {
  type CommandSpec,
  ErrorReply,
  isHeldWithWrites,
  isWrite,
  mayRunWrites,
  type Reply,
} from '../../domain/kv/index.js';
import { type ByteString, isMillraceError, type PartitionName } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import type { KvWatch, RequestPlace, Span } from '../../protocol/index.js';
import { isClosed } from '../commands/layout-changes.js';
import { type AdmittedCommands, countOfLayout, type RequestDetails, type RoutedReplies } from '../commands/portions.js';
import { QUOTA_EXCEEDED, takeSingly } from '../commands/quota.js';
import { saysLoading } from '../error-map.js';
import { bytesInSteps, bytesOfReplies } from './answer-bytes.js';
import type { ClientState } from './client-state.js';
import { clientLine } from './commands/client-line.js';
import { NO_MEMORY, NO_MEMORY_TO_EXECUTE } from './memory-refusals.js';
import type { RespBatch } from './resp-batch.js';
import type { RespEndpoint } from './resp-endpoint.js';

/** A command that has waited this long was registered with its owner, and may wait again if the owner changed. */
const REGISTERED_AFTER_MS = 1_000;

const NOTHING_MORE = {};
const NOT_RUN: RoutedReplies = { replies: [], syncToken: undefined, isAborted: true };

export class PartitionCalls {
  #waiters = 0;
  readonly #isGone = () => this.client.isClosed;
  #answerBytes = 0;
  readonly #noteAnswerBytes = (bytes: number): void => {
    this.#answerBytes = bytes;
  };

  constructor(
    private readonly endpoint: RespEndpoint,
    private readonly client: ClientState,
  ) {}

  /**
   * The answers of the batch, in order. Normally the request is sent immediately, with no extra promise. It does not
   * reject for failures outside the program; they become answers.
   */
  runBatch(grant: KvGrant, batch: RespBatch): Promise<readonly Reply[]> {
    if (this.#isFree(grant)) return this.#takeBatch(grant, batch);
    return this.#whenFree(grant, batch).then((isFree) =>
      isFree ? this.#takeBatch(grant, batch) : batch.answers(batch.commands.map(() => NO_MEMORY)),
    );
  }

  /** Runs the rest of a partly answered batch. The quota was taken for the whole batch. */
  async runRest(grant: KvGrant, batch: RespBatch): Promise<readonly Reply[]> {
    batch.hasRest = false;
    const isFree = this.#isFree(grant) || (await this.#whenFree(grant, batch));
    return isFree ? this.#askBatch(grant, batch) : batch.answers(batch.commands.map(() => NO_MEMORY));
  }

  /** Approximate bytes of the last answer; 0 after the first call. */
  takeAnswerBytes(): number {
    const bytes = this.#answerBytes;
    this.#answerBytes = 0;
    return bytes;
  }

  #takeBatch(grant: KvGrant, batch: RespBatch): Promise<readonly Reply[]> {
    const taken = this.endpoint.parts.quota.take(grant, batch.commands.length, batch.bytes);
    return taken === true ? this.#askBatch(grant, batch) : this.#askWhatIsLeft(grant, batch, taken);
  }

  #askBatch(grant: KvGrant, batch: RespBatch): Promise<readonly Reply[]> {
    this.endpoint.slowNotes.flush(grant.database);
    const mode = batch.commands.length === 1 ? 'single' : 'pipeline';
    const startedAtMs = this.endpoint.parts.clock.monotonicMs();
    const { isTracked, place } = batch;
    const portionBytes = mode === 'single' ? undefined : this.#portionOf(grant, batch);
    const trace = this.#traceOf(batch);
    const details = this.#details(isTracked, portionBytes, undefined, { place, trace });
    // The same as `#metered` with one promise less; nearly every command takes this path.
    const { router } = this.endpoint;
    const answered = (routed: RoutedReplies) => {
      const { replies } = routed;
      trace?.end();
      this.client.isRefusedWhileLoading = false;
      batch.hasRest = replies.length < batch.commands.length;
      const recorded = this.#recordBatch(grant, batch, routed, startedAtMs);
      if (batch.scriptKeys.size > 0) this.#forgetUnread(grant, batch, routed.scriptReads);
      const answers = batch.answers(replies);
      return recorded?.then(() => answers) ?? answers;
    };
    const refused = (failure: unknown) => {
      const refusal = this.#refusalOf(failure, batch);
      trace?.end('failed');
      return batch.answers(batch.commands.map(() => refusal));
    };
    return router.run(grant, mode, batch, details).then(answered, (failure: unknown) => {
      if (!isClosed(failure)) return refused(failure);
      const again = (present: KvGrant) =>
        this.#details(isTracked, mode === 'single' ? undefined : this.#portionOf(present, batch), undefined, { trace });
      return router.runAgain(failure, grant, mode, batch, again).then(answered, refused);
    });
  }

  #refusalOf(failure: unknown, { specs }: RespBatch): ErrorReply {
    const refusal = new ErrorReply(this.endpoint.failureText(failure));
    if (saysLoading(refusal.text) && specs.some(({ asksReadiness }) => asksReadiness === true))
      this.client.isRefusedWhileLoading = true;
    return refusal;
  }

  /** RESP clients send no trace id, so each batch starts its own trace. */
  #traceOf({ specs: [first], commands: { length } }: RespBatch): Span | undefined {
    const { tracing } = this.endpoint.parts;
    if (tracing === undefined || first === undefined) return undefined;
    return tracing.begin(length === 1 ? first.name : 'pipeline', {
      kind: 'server',
      attributes: { 'millrace.face': 'resp', 'db.operation.batch.size': length === 1 ? undefined : length },
    });
  }

  /** A batch of which no command ran is not recorded; it is sent again. */
  #recordBatch(
    grant: KvGrant,
    batch: RespBatch,
    routed: RoutedReplies,
    startedAtMs: number,
  ): Promise<void> | undefined {
    const ran = routed.replies.length;
    if (ran === 0) return undefined;
    const admitted = batch.hasRest ? batch.takeFirst(ran) : batch;
    return this.#record(grant, admitted, routed, startedAtMs, (bytes) => {
      batch.answerBytes = bytes;
    });
  }

  /** Answers of several partitions are merged as a whole, so they are requested in full. */
  #portionOf({ partitions, isCluster }: KvGrant, { isBehind }: RespBatch): number {
    const { budget, parts } = this.endpoint;
    const most = budget.maxAnswerBytes;
    const { answerPortionBytes, answerPortionBehindBytes } = parts.limits;
    if (partitions.length > 1 || isCluster === true) return most;
    return Math.min(isBehind ? answerPortionBehindBytes : answerPortionBytes, most);
  }

  /** The quota may not have room for all commands. */
  async #askWhatIsLeft(grant: KvGrant, batch: RespBatch, taken: boolean | Promise<boolean>): Promise<readonly Reply[]> {
    try {
      if (await taken) return this.client.isClosed ? batch.answers([]) : this.#askBatch(grant, batch);
      batch.keepFirst(await takeSingly(this.endpoint.parts.quota, grant, batch.commands.length), QUOTA_EXCEEDED);
    } catch (failure) {
      // No partition was asked: every command of the batch gets the error, and the connection continues.
      batch.keepFirst(0, this.#refusalOf(failure, batch));
    }
    return batch.isEmpty || this.client.isClosed ? batch.answers([]) : this.#askBatch(grant, batch);
  }

  /** A command that may wait at its owner. */
  async runBlocking(grant: KvGrant, spec: CommandSpec, words: readonly ByteString[], bytes: number): Promise<Reply> {
    const { client, endpoint } = this;
    const { clock, quota } = endpoint.parts;
    const admitted = { specs: [spec], commands: [words], bytes };
    this.#waiters += 1;
    const waiter = `${client.identity.id}:${this.#waiters}`;
    // Set first: while it is set, the connection does not hold back its output.
    let current = grant;
    const noteBlocked = () => {
      const partition = endpoint.router.partitionOf(current, admitted);
      client.blocked = { grant: current, partition, waiter, spec, words };
    };
    noteBlocked();
    try {
      if (!(await this.#whenFree(grant, admitted))) return NO_MEMORY;
      if (!(await quota.take(grant, 1, bytes))) return QUOTA_EXCEEDED;
      // The client disconnected before the owner registered the command; no later call would remove it there.
      if (client.isClosed) return null;
      for (;;) {
        const askedAtMs = clock.monotonicMs();
        try {
          const details = this.#details(false, undefined, waiter);
          const run = () => endpoint.router.run(current, 'single', admitted, details);
          const { replies } = await this.#metered(grant, admitted, run);
          return replies[0] as Reply;
        } catch (failure) {
          const mayAskAgain = isMillraceError(failure, 'NOT_APPLIED') || isMillraceError(failure, 'SHARD_UNAVAILABLE');
          const hasWaited = clock.monotonicMs() - askedAtMs > REGISTERED_AFTER_MS;
          if (isClosed(failure) && !client.isClosed) {
            current = await this.#presentLayout(failure, grant);
            noteBlocked();
            continue;
          }
          if (!mayAskAgain || !hasWaited || client.isClosed) throw failure;
        }
      }
    } finally {
      client.blocked = undefined;
    }
  }

  /** Waits until no partition is closed, for a request that waits itself. @throws the failure when that takes too long */
  #presentLayout(failure: unknown, grant: KvGrant): Promise<KvGrant> {
    const { router, parts } = this.endpoint;
    return router.again(failure, grant, async (present) => {
      const { database, partitions } = present;
      const asked = { database, mode: 'reads-only', commands: [], bytes: 0 } as const;
      await Promise.all(partitions.map((partition) => parts.gateway.execute({ ...asked, partition })));
      return present;
    });
  }

  /** Tells the owner to drop the command of a client that has disconnected or is about to. */
  giveUpWaiting(): void {
    const { blocked } = this.client;
    if (blocked === undefined) return;
    // The result has no reader.
    unblock(this.endpoint, blocked, 'GONE').catch(() => undefined);
  }

  /** @param admitted all in one slot, that of `partition` */
  async runTransaction(
    grant: KvGrant,
    partition: PartitionName,
    admitted: AdmittedCommands,
    watches: readonly KvWatch[],
    isTracked: boolean,
  ): Promise<RoutedReplies> {
    const { budget, parts } = this.endpoint;
    if (!(await this.#whenFree(grant, admitted))) return { ...NOT_RUN, replies: [NO_MEMORY_TO_EXECUTE] };
    if (!(await parts.quota.take(grant, admitted.commands.length, admitted.bytes))) {
      return { replies: admitted.commands.map(() => QUOTA_EXCEEDED), syncToken: undefined };
    }
    if (this.client.isClosed) return NOT_RUN;
    const { commands, bytes } = admitted;
    const maxAnswerBytes = Math.min(parts.limits.maxTransactionAnswerBytes, budget.maxAnswerBytes);
    const details = this.#details(isTracked, maxAnswerBytes);
    return this.#metered(grant, admitted, async () => {
      try {
        return await parts.gateway.execute({
          database: grant.database,
          partition,
          mode: 'transaction',
          commands,
          bytes,
          ...details,
          partitions: countOfLayout(grant),
          firstPartition: grant.firstPartition,
          watches: watches.length === 0 ? undefined : watches.map(({ keys, mark }) => ({ keys, mark })),
        });
      } catch (failure) {
        // The marks of watched keys are those of the old partitions: to the client the keys have changed.
        if (isClosed(failure) && watches.length > 0) return NOT_RUN;
        return this.endpoint.router.runAgain(failure, grant, 'transaction', admitted, () => details);
      }
    });
  }

  #forgetUnread(grant: KvGrant, batch: RespBatch, reads: readonly ByteString[] | undefined): void {
    const { scriptKeys, hasRest } = batch;
    if (reads === undefined) return;
    for (const key of reads) scriptKeys.delete(key);
    if (!hasRest) this.endpoint.tracking.forget(this.client, grant, scriptKeys);
  }

  #details(
    isTracked: boolean,
    maxAnswerBytes?: number,
    waiter?: string,
    { place, trace }: { readonly place?: RequestPlace | undefined; readonly trace?: Span | undefined } = NOTHING_MORE,
  ): RequestDetails {
    const { client, endpoint } = this;
    const trackFor = isTracked ? endpoint.parts.events.edge : undefined;
    return {
      client: client.identity,
      by: client.author,
      isGone: this.#isGone,
      trackFor,
      maxAnswerBytes,
      waiter,
      place,
      trace,
    };
  }

  #metered(grant: KvGrant, admitted: AdmittedCommands, run: () => Promise<RoutedReplies>): Promise<RoutedReplies> {
    const startedAtMs = this.endpoint.parts.clock.monotonicMs();
    return run().then((routed) => {
      return this.#record(grant, admitted, routed, startedAtMs)?.then(() => routed) ?? routed;
    });
  }

  /** A publishing client waits while too many messages of its database are still being written to listeners. */
  #whenHandedOn({ database }: KvGrant, { hasSaid }: RoutedReplies): Promise<void> | undefined {
    return hasSaid === true ? this.endpoint.broadcasts.whenCaughtUp(database) : undefined;
  }

  /** @returns a promise that the answers have to wait for, or undefined */
  #record(
    grant: KvGrant,
    admitted: AdmittedCommands & { readonly writes?: number },
    routed: RoutedReplies,
    startedAtMs: number,
    note: (answerBytes: number) => void = this.#noteAnswerBytes,
  ): Promise<void> | undefined {
    const { clock, acl } = this.endpoint.parts;
    const durationMs = clock.monotonicMs() - startedAtMs;
    const { database } = grant;
    for (const denial of routed.denials ?? []) acl?.noteDenied(database, denial, clientLine(this.client), 'lua');
    this.endpoint.fullDatabases.note(database, routed.isFull === true);
    this.endpoint.slowNotes.learn(database, routed.slowerThanMicros);
    const bytes = bytesOfReplies(routed.replies);
    if (Number.isNaN(bytes)) return this.#recordLong(grant, admitted, routed, durationMs, note);
    note(bytes);
    this.#meter(database, admitted, bytes, durationMs);
    return this.#whenHandedOn(grant, routed);
  }

  async #recordLong(
    grant: KvGrant,
    admitted: AdmittedCommands & { readonly writes?: number },
    routed: RoutedReplies,
    durationMs: number,
    note: (answerBytes: number) => void,
  ): Promise<void> {
    const steps = bytesInSteps(routed.replies);
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) {
        note(step.value);
        this.#meter(grant.database, admitted, step.value, durationMs);
        return this.#whenHandedOn(grant, routed);
      }
      await this.endpoint.parts.timers.yieldToEventLoop();
    }
  }

  #meter(
    database: KvGrant['database'],
    admitted: AdmittedCommands & { readonly writes?: number },
    bytesOut: number,
    durationMs: number,
  ): void {
    this.endpoint.answered.add(admitted.commands.length);
    // The duration of a blocking command depends on other clients.
    if (admitted.specs[0]?.isBlocking !== true) this.endpoint.batchSeconds.observe(durationMs / 1000);
    this.endpoint.parts.meter.recordKv(database, {
      commands: admitted.commands.length,
      writes: admitted.writes ?? admitted.specs.filter(isWrite).length,
      bytesIn: admitted.bytes,
      bytesOut,
      durationMs,
      specs: admitted.specs,
    });
  }

  /** True in the usual case. */
  #isFree({ database }: KvGrant): boolean {
    return this.endpoint.pauses.areNone && this.endpoint.budget.hasRoom(database);
  }

  /** @returns false if there was no room for too long, or the client has disconnected */
  async #whenFree(grant: KvGrant, admitted: AdmittedCommands): Promise<boolean> {
    const { budget, pauses, room } = this.endpoint;
    if (!pauses.areNone) await this.#whileHeldUp(grant, admitted);
    const { database } = grant;
    if (this.client.isClosed) return false;
    if (budget.hasRoom(database)) return true;
    return room.wait(
      database,
      () => budget.hasRoom(database),
      () => this.client.isClosed,
    );
  }

  async #whileHeldUp(grant: KvGrant, admitted: AdmittedCommands): Promise<void> {
    const { pauses } = this.endpoint;
    for (;;) {
      const held = pauses.of(grant.database);
      if (held === undefined || this.client.isClosed) return;
      if (held === 'writes' && !(await this.#mayWrite(grant, admitted))) return;
      await pauses.hold(this.client, grant);
    }
  }

  /** Only the owner of a script knows whether it writes. */
  async #mayWrite(grant: KvGrant, { specs, commands }: AdmittedCommands): Promise<boolean> {
    if (specs.some((spec) => isHeldWithWrites(spec) && !mayRunWrites(spec))) return true;
    for (const [index, spec] of specs.entries()) {
      if (mayRunWrites(spec) && !(await this.#readsOnly(grant, spec, commands[index] as readonly ByteString[])))
        return true;
    }
    return false;
  }

  async #readsOnly(grant: KvGrant, spec: CommandSpec, words: readonly ByteString[]): Promise<boolean> {
    const { router, parts } = this.endpoint;
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
      // Held like an unknown script.
      return false;
    }
  }
}

/** Wakes a waiting command of a client. @returns whether it was waiting */
export async function unblock(
  endpoint: RespEndpoint,
  { grant, partition, waiter }: NonNullable<ClientState['blocked']>,
  how: 'TIMEOUT' | 'ERROR' | 'GONE',
): Promise<boolean> {
  const { database } = grant;
  const commands = [[waiter, how]];
  const { replies } = await endpoint.parts.gateway.execute({
    database,
    partition,
    mode: 'unblock',
    commands,
    bytes: waiter.length,
  });
  return replies[0] === 1;
}
