/**
 * A gateway to databases as they were at a moment: the same engine as for live commands, with a state that does not
 * change.
 *
 *  RG1 a command that could change the state does not run, not even in a script; it is answered READONLY
 *  RG2 time stands still at the moment: keys that had not expired then exist, with their times to live of then
 *  RG3 long commands run in slices; other partitions continue between slices, the same partition does not, because a
 *      script needs its machine exclusively
 *  RG4 a query to a full-text index waits until the index has the keys of the moment
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
import type { KvGateway, Timers } from '../ports/index.js';
import type { KvRequest, KvResponse } from '../protocol/index.js';

export interface ReplayedPartition {
  readonly engine: KvEngine;
  /** The position of the last applied entry. */
  readonly position: number;
}

/** Steps of indexing between two pauses, each of which takes at most a millisecond. */
const STEPS_OF_A_SLICE = 8;
/** The mark of an activation without changes. */
const MARK = 'replay';

export class ReplayGateway implements KvGateway {
  readonly #refused: ErrorReply;
  /** The latest request to each partition, finished or not. */
  readonly #latest = new Map<PartitionName, Promise<unknown>>();

  /** @param atMs the moment; milliseconds since the epoch */
  constructor(
    private readonly partitions: ReadonlyMap<PartitionName, ReplayedPartition>,
    private readonly atMs: number,
    private readonly timers: Pick<Timers, 'yieldToEventLoop'>,
  ) {
    const moment = new Date(atMs).toISOString();
    this.#refused = new ErrorReply(`READONLY this is the state of the database at ${moment}, which cannot be changed`);
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
      endpoint: client?.face,
      protocol: client?.protocol,
      isNested: mode === 'transaction',
      permissions: new ReadingOnly(this.#refused, own),
    };
    if (spec.waitsForIndex !== undefined) await this.#index(engine);
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

  /** Makes the indexes from the keys of the moment, because no owner works on them between commands. */
  async #index({ searches }: KvEngine): Promise<void> {
    while (searches.hasWork) {
      let steps = 0;
      searches.workUntil(() => {
        steps += 1;
        return steps > STEPS_OF_A_SLICE;
      });
      await this.timers.yieldToEventLoop();
    }
  }

  async #inSlices(engine: KvEngine, spec: CommandSpec, words: readonly ByteString[], caller: Caller): Promise<Reply> {
    const slices = engine.begin(spec, words, caller);
    for (;;) {
      const reply = slices.next(this.atMs);
      if (reply !== undefined) return reply;
      await this.timers.yieldToEventLoop();
    }
  }
}

/** Whether the command changes keys, or parameters, which administrators set in all partitions. */
function changesSomething(spec: CommandSpec): boolean {
  const { flags } = spec;
  return isWrite(spec) || (flags.includes('admin') && spec.acrossPartitions !== undefined);
}

/** The user's permissions without changing commands; scripts check them before each command. */
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
