/**
 * One partition's engine: its keyspace, and commands run against it one at a time, synchronously.
 * Live commands, the effects in the journal and the effects in a snapshot all come through here.
 */
import type { ByteString, Random } from '../../kernel/index.js';
import { MillraceError } from '../../kernel/index.js';
import { Args } from './args.js';
import type { CommandContext, CommandSpec, ServerFacts, SlicedHandler } from './command-spec.js';
import { findCommand } from './command-table.js';
import { Effects } from './effects.js';
import { Keyspace } from './keyspace.js';
import { ErrorReply, type Reply } from './reply.js';

export interface SlicedCommand {
  /** Runs one slice, judged by `nowMs`. The reply when it was the last. */
  next(nowMs: number): Reply | undefined;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class KvEngine {
  readonly effects = new Effects();
  readonly keyspace = new Keyspace(this.effects);
  readonly #args = new Args();
  readonly #context: Mutable<CommandContext>;

  constructor(random: Random, server: ServerFacts) {
    const { keyspace, effects } = this;
    this.#context = { args: this.#args, keyspace, effects, random, server, nowMs: 0, isReplay: false };
  }

  /**
   * Runs one admitted command, judged by `nowMs`. A refusal is a reply.
   * @throws what is not a refusal: a defect, after which the partition's state is in doubt
   */
  execute(spec: CommandSpec, words: readonly ByteString[], nowMs: number): Reply {
    this.#args.words = words;
    this.#context.nowMs = nowMs;
    this.keyspace.nowMs = nowMs;
    try {
      return spec.handler(this.#context);
    } catch (refusal) {
      if (refusal instanceof ErrorReply) return refusal;
      throw refusal;
    }
  }

  /** Begins a command that runs in slices; each call of `next` is one. A refusal is its reply. */
  begin(spec: CommandSpec, words: readonly ByteString[]): SlicedCommand {
    this.#args.words = words;
    const slices = (spec.sliced as SlicedHandler)(this.#context);
    return {
      next: (nowMs) => {
        this.#args.words = words;
        this.#context.nowMs = nowMs;
        this.keyspace.nowMs = nowMs;
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
    const { effects } = this;
    effects.isMuted = true;
    this.#context.isReplay = true;
    const reply = this.execute(spec, words, 0);
    this.#context.isReplay = false;
    effects.isMuted = false;
    if (reply instanceof ErrorReply) throw notReplayable(`an effect was refused: ${reply.text}`, words);
  }

  /** Removes keys whose instant has passed, recording a `DEL` for each; at most `limit`. Returns how many. */
  expireDue(nowMs: number, limit: number): number {
    const due = this.keyspace.dueKeys(nowMs, limit);
    for (const key of due) {
      this.keyspace.delete(key);
      this.effects.push('DEL', key);
    }
    return due.length;
  }
}

function notReplayable(problem: string, words: readonly ByteString[]): MillraceError {
  return new MillraceError('DEFECT', problem, { command: words[0] });
}
