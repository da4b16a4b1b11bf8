/**
 * Databases as they were at a moment, asked as the owners of partitions are: the engine that runs live commands,
 * over state that nobody changes any more.
 *
 *  RG1 nothing that could change the state runs, in a script neither; it is answered READONLY
 *  RG2 time stands still at the moment: what had not expired then is there, and TTLs are those of then
 *  RG3 what takes long runs in slices; other partitions go on between them, and none of the same: a script has the
 *      partition's machine for itself
 */
import {
  type Caller,
  type CommandSpec,
  ErrorReply,
  findCommand,
  isWrite,
  type KvEngine,
  notAvailable,
  type Permissions,
  permissionsOf,
  type Reply,
  StateInDoubt,
} from '../domain/kv/index.js';
import { assert, type ByteString, MillraceError, type PartitionName } from '../kernel/index.js';
import type { KvRequest, KvResponse } from '../messages/index.js';
import type { KvGateway, Timers } from '../ports/index.js';

export interface ReplayedPartition {
  readonly engine: KvEngine;
  /** The position of the last entry in it. */
  readonly position: number;
}

/** The mark of an activation that has never changed anything. */
const MARK = 'replay';

export class ReplayGateway implements KvGateway {
  readonly #refused: ErrorReply;
  /** The request to each partition that came last, done or not. */
  readonly #latest = new Map<PartitionName, Promise<unknown>>();

  /** @param atMs the moment; milliseconds since the epoch */
  constructor(
    private readonly partitions: ReadonlyMap<PartitionName, ReplayedPartition>,
    private readonly atMs: number,
    private readonly timers: Pick<Timers, 'breathe'>,
  ) {
    const moment = new Date(atMs).toISOString();
    this.#refused = new ErrorReply(
      `READONLY this is the database as it was at ${moment}: nothing in it can be changed`,
    );
  }

  execute(request: KvRequest): Promise<KvResponse> {
    const { partition } = request;
    const answer = (this.#latest.get(partition) ?? Promise.resolve()).then(() => this.#answer(request));
    this.#latest.set(
      partition,
      answer.catch(() => undefined),
    );
    return answer;
  }

  async #answer(request: KvRequest): Promise<KvResponse> {
    const replayed = this.partitions.get(request.partition);
    if (replayed === undefined) {
      throw new MillraceError('NOT_FOUND', 'this partition was not replayed', { partition: request.partition });
    }
    const syncToken = `${replayed.position}-0`;
    if (request.mode === 'watch') return { replies: [MARK], syncToken };
    if (request.mode === 'unblock') return { replies: [0], syncToken };
    if (request.mode === 'reads-only') return { replies: request.commands.map(() => 0), syncToken };
    if (request.mode === 'listen') return { replies: [MARK, 1], syncToken };
    const replies: Reply[] = [];
    for (const words of request.commands) replies.push(await this.#run(replayed.engine, request, words));
    return { replies, syncToken };
  }

  async #run(engine: KvEngine, { mode, client }: KvRequest, words: readonly ByteString[]): Promise<Reply> {
    const spec = findCommand(words);
    if (spec === undefined) return notAvailable(words[0] ?? '');
    if (changesSomething(spec)) return this.#refused;
    const rules = client?.rules;
    const own = rules === undefined ? undefined : permissionsOf(rules, client?.user ?? '');
    const caller: Caller = {
      face: client?.face,
      protocol: client?.protocol,
      isNested: mode === 'transaction',
      permissions: new ReadingOnly(this.#refused, own),
    };
    try {
      const reply = engine.isLong(spec, words, this.atMs, caller)
        ? await this.#inSlices(engine, spec, words, caller)
        : (engine.execute(spec, words, this.atMs, caller) as Reply);
      assert(engine.effects.count === 0, 'a command changed a state that is only read', { command: spec.name });
      return reply;
    } catch (error) {
      if (error instanceof StateInDoubt) return error.reply;
      throw error;
    }
  }

  async #inSlices(engine: KvEngine, spec: CommandSpec, words: readonly ByteString[], caller: Caller): Promise<Reply> {
    const slices = engine.begin(spec, words, caller);
    for (;;) {
      const reply = slices.next(this.atMs);
      if (reply !== undefined) return reply;
      await this.timers.breathe();
    }
  }
}

/** Keys; and parameters, which administrators set in all partitions at once. */
function changesSomething(spec: CommandSpec): boolean {
  const { flags } = spec;
  return isWrite(spec) || (flags.includes('admin') && spec.acrossPartitions !== undefined);
}

/** What the user may do, without what changes something: scripts ask before each of their commands. */
class ReadingOnly implements Permissions {
  constructor(
    private readonly refused: ErrorReply,
    private readonly own: Permissions | undefined,
  ) {}

  get user(): string {
    return this.own?.user ?? 'default';
  }

  refusal(spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined {
    return changesSomething(spec) ? this.refused : this.own?.refusal(spec, words);
  }

  get keyPatterns(): readonly ByteString[] {
    return this.own?.keyPatterns ?? ['~*'];
  }

  mayReach(channel: ByteString, isPattern: boolean): boolean {
    return this.own?.mayReach(channel, isPattern) ?? true;
  }
}
