/**
 * What a script that has paused has done so far. It is neither journaled nor told to anybody before the script is done:
 * entries of others leave meanwhile, and half of it must not be in them.
 */
import type { ByteString } from '../../../kernel/index.js';
import type { CommandContext } from '../command-spec.js';

/** How far effects and messages had come when a slice began. */
export class Mark {
  readonly count: number;
  readonly bytes: number;
  readonly said: number;

  constructor({ effects, audience }: CommandContext) {
    this.count = effects.count;
    this.bytes = effects.bytes;
    this.said = audience.said ?? 0;
  }
}

export class HeldBack {
  readonly #effects: { readonly resp: ByteString; readonly count: number }[] = [];
  readonly #messages: unknown[] = [];

  get hasEffects(): boolean {
    return this.#effects.length > 0;
  }

  /** Takes out what came since. */
  take({ effects, audience }: CommandContext, { count, bytes, said }: Mark): void {
    if (effects.count > count) this.#effects.push(effects.cut(count, bytes));
    for (const message of audience.holdBack?.(said) ?? []) this.#messages.push(message);
  }

  /** The script is done: all of it, in order, with what its last slice did. */
  giveBack(context: CommandContext, mark: Mark): void {
    this.take(context, mark);
    const { effects, audience, keyspace } = context;
    for (const { resp, count } of this.#effects) effects.adopt(resp, count);
    audience.sayAgain?.(this.#messages);
    // Which keys it changed may have left with an entry that was not its own.
    if (this.hasEffects) keyspace.changes.open.everything = true;
  }

  /** The script was stopped: nobody hears of it, but that keys are to be looked at again. */
  drop(context: CommandContext, mark: Mark): void {
    this.take(context, mark);
    context.audience.sayAgain?.(this.#messages);
    context.audience.unsay?.(mark.said);
  }
}
