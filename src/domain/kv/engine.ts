/**
 * One partition's engine: its keyspace, settings and libraries, and commands run against them one at a
 * time, synchronously. Live commands, the effects in the journal and those in a snapshot all come through here.
 */
import type { ByteString, Random } from '../../kernel/index.js';
import { MillraceError } from '../../kernel/index.js';
import { Args } from './args.js';
import { type Audience, NO_AUDIENCE } from './audience.js';
import type {
  CommandContext,
  CommandSpec,
  KvFaceName,
  Permissions,
  ServerFacts,
  SlicedHandler,
} from './command-spec.js';
import { findCommand } from './command-table.js';
import { Effects } from './effects.js';
import { Keyspace } from './keyspace.js';
import { Libraries } from './libraries.js';
import { type NotificationKind, Notifications } from './notifications.js';
import { PARAMETER_DEFAULTS } from './parameters.js';
import { type Blocked, ERRORS, ErrorReply, type Reply } from './reply.js';
import { Settings } from './settings.js';

export interface SlicedCommand {
  /** Runs one slice, judged by `nowMs`. The reply when it was the last. */
  next(nowMs: number): Reply | undefined;
}

/** Who asks, and what for; what is left out is as for a plain REST command of a user who may do everything. */
export interface Caller {
  readonly face?: KvFaceName | undefined;
  readonly protocol?: 2 | 3 | undefined;
  readonly mayBlock?: boolean | undefined;
  /** Inside a transaction. */
  readonly isNested?: boolean | undefined;
  readonly permissions?: Permissions | undefined;
}

export const REST_CALLER: Caller = {};

/**
 * Thrown by a handler that was stopped half-way, having changed things: the partition's state is in doubt,
 * and has to be built again from the journal without them.
 */
export class StateInDoubt extends Error {
  constructor(readonly reply: ErrorReply) {
    super(reply.text);
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class KvEngine {
  readonly effects = new Effects();
  readonly keyspace = new Keyspace(this.effects);
  readonly settings = new Settings(PARAMETER_DEFAULTS);
  readonly libraries = new Libraries();
  readonly #notifications: Notifications;
  readonly #args = new Args();
  readonly #context: Mutable<CommandContext>;

  constructor(random: Random, server: ServerFacts, audience: Audience = NO_AUDIENCE) {
    const { keyspace, effects, settings, libraries } = this;
    this.#notifications = new Notifications(audience);
    settings.onChange = (name) => {
      if (name === 'notify-keyspace-events') this.#notifications.flags = settings.get(name) ?? '';
    };
    this.#context = {
      args: this.#args,
      keyspace,
      effects,
      random,
      server,
      settings,
      libraries,
      audience,
      nowMs: 0,
      isReplay: false,
      face: 'rest',
      protocol: 2,
      mayBlock: false,
      isNested: false,
      permissions: undefined,
      notify: (kind, event, key) => this.notify(kind, event, key),
      call: (spec, words) => this.#call(spec, words),
    };
  }

  /**
   * Runs one admitted command, judged by `nowMs`. A refusal is a reply.
   * @throws StateInDoubt, and what is not a refusal: a defect, after which the partition's state is in doubt
   */
  execute(
    spec: CommandSpec,
    words: readonly ByteString[],
    nowMs: number,
    caller: Caller = REST_CALLER,
  ): Reply | Blocked {
    this.#prepare(words, nowMs, caller);
    try {
      return spec.handler(this.#context);
    } catch (refusal) {
      if (refusal instanceof ErrorReply) return refusal;
      throw refusal;
    }
  }

  /** Should it run in slices? */
  isLong(spec: CommandSpec, words: readonly ByteString[], nowMs: number, caller: Caller = REST_CALLER): boolean {
    if (spec.sliced === undefined) return false;
    if (spec.isLong === undefined) return true;
    this.#prepare(words, nowMs, caller);
    try {
      return spec.isLong(this.#context);
    } catch (refusal) {
      if (refusal instanceof ErrorReply) return false;
      throw refusal;
    }
  }

  /** Begins a command that runs in slices; each call of `next` is one. A refusal is its reply. */
  begin(spec: CommandSpec, words: readonly ByteString[], caller: Caller = REST_CALLER): SlicedCommand {
    this.#prepare(words, 0, caller);
    const slices = (spec.sliced as SlicedHandler)(this.#context);
    return {
      next: (nowMs) => {
        this.#prepare(words, nowMs, caller);
        try {
          const step = slices.next();
          return step.done === true ? step.value : undefined;
        } catch (refusal) {
          if (refusal instanceof ErrorReply) return refusal;
          throw refusal;
        }
      },
    };
  }

  /** Applies one journaled effect. @throws DEFECT when it does not apply: effects are total by construction */
  replay(words: readonly ByteString[]): void {
    const spec = findCommand(words);
    if (spec === undefined) throw notReplayable('an effect names an unknown command', words);
    const { effects, keyspace } = this;
    effects.isMuted = true;
    keyspace.changes.isMuted = true;
    this.#context.isReplay = true;
    const reply = this.execute(spec, words, 0);
    this.#context.isReplay = false;
    keyspace.changes.isMuted = false;
    effects.isMuted = false;
    if (reply instanceof ErrorReply) throw notReplayable(`an effect was refused: ${reply.text}`, words);
  }

  /** Removes keys whose instant has passed, recording a `DEL` for each; at most `limit`. Returns how many. */
  expireDue(nowMs: number, limit: number): number {
    const due = this.keyspace.dueKeys(nowMs, limit);
    for (const key of due) {
      this.keyspace.delete(key);
      this.effects.push('DEL', key);
      this.notify('x', 'expired', key);
    }
    return due.length;
  }

  /** Is there anything that falls due by itself? */
  get hasExpiries(): boolean {
    return this.keyspace.expiring > 0;
  }

  /** Makes room for growth within `limit`, or says why not. */
  makeRoom(limit: { readonly maxBytes: number; readonly policy: string }, nowMs: number): ErrorReply | undefined {
    this.keyspace.nowMs = nowMs;
    return this.keyspace.bytes < limit.maxBytes ? undefined : ERRORS.databaseFull;
  }

  notify(kind: NotificationKind, event: string, key: ByteString): void {
    if (this.#notifications.isOff || this.#context.isReplay) return;
    this.#notifications.notify(kind, event, key);
  }

  #prepare(words: readonly ByteString[], nowMs: number, caller: Caller): void {
    this.#args.words = words;
    const context = this.#context;
    context.nowMs = nowMs;
    this.keyspace.nowMs = nowMs;
    context.face = caller.face ?? 'rest';
    context.protocol = caller.protocol ?? 2;
    context.mayBlock = caller.mayBlock ?? false;
    context.isNested = caller.isNested ?? false;
    context.permissions = caller.permissions;
  }

  /** A command within a command: the outer one finds its own words again afterwards. */
  #call(spec: CommandSpec, words: readonly ByteString[]): Reply {
    const context = this.#context;
    const outer = this.#args.words;
    const { mayBlock, isNested } = context;
    this.#args.words = words;
    context.mayBlock = false;
    context.isNested = true;
    try {
      // Handlers block only where `mayBlock`.
      return spec.handler(context) as Reply;
    } catch (refusal) {
      if (refusal instanceof ErrorReply) return refusal;
      throw refusal;
    } finally {
      this.#args.words = outer;
      context.mayBlock = mayBlock;
      context.isNested = isNested;
    }
  }
}

function notReplayable(problem: string, words: readonly ByteString[]): MillraceError {
  return new MillraceError('DEFECT', problem, { command: words[0] });
}
