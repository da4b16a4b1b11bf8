/**
 * The opening of a process's NATS. A server of its own starts, and its layout is made or checked, while the rest of the
 * program is still being loaded: both take as long, and one of them mostly waits. A NATS that others run is opened when
 * it is asked for, as often as it is asked for: it may come later.
 *
 *  NOP1 what was begun, and is not taken by whoever asked for it, is ended by `giveUp`
 *  NOP2 nothing is begun over a directory whose restore did not come to its end
 */
import { once } from 'node:events';
import type { Config } from '../../../config/index.js';
import type { Log } from '../../../ports/index.js';
import { markFile, refuseUnfinishedRestore } from '../restore-mark.js';
import type { EmbeddedStart } from './embedded-nats.js';
import type { OpenedNats } from './opened-nats.js';
import { prepareServer } from './prepared-server.js';

export class NatsOpening {
  /** Resolves with why, should NATS be given up. */
  readonly failed: Promise<string>;
  /** Resolves when the server of our own runs, or never will: until it can be connected to, it does without this loop. */
  readonly launched: Promise<unknown>;
  /** Resolves when nothing is left of the opening but what the server does by itself, or nothing at all. */
  readonly asked: Promise<unknown>;
  readonly #givingUp = new AbortController();
  readonly #unneeded = new AbortController();
  #begun: Promise<OpenedNats> | undefined;

  constructor(
    private readonly config: Config,
    private readonly log: Log,
  ) {
    const { signal } = this.#givingUp;
    this.failed = once(signal, 'abort').then(() => signal.reason as string);
    const steps = config.isEmbedded ? this.#begin() : { launched: Promise.resolve(), asked: Promise.resolve() };
    this.launched = steps.launched;
    this.asked = steps.asked;
  }

  /** @returns what the caller closes. @throws MillraceError with one clear line for whoever started the process */
  take(): Promise<OpenedNats> {
    const begun = this.#begun;
    this.#begun = undefined;
    return begun ?? this.#open();
  }

  /** NOP1. */
  async giveUp(): Promise<void> {
    this.#unneeded.abort();
    const opened = await this.#begun?.catch(() => undefined);
    this.#begun = undefined;
    await opened?.close();
  }

  #begin(): { readonly launched: Promise<unknown>; readonly asked: Promise<unknown> } {
    const { dataDir } = this.config.storage;
    // NOP2. Who opens it refuses it, too.
    const prepared = refuseUnfinishedRestore(markFile(dataDir), dataDir).then(() =>
      prepareServer(this.config, this.log),
    );
    // It may fail before anybody waits for it.
    prepared.catch(() => undefined);
    let onLaunch!: () => void;
    let onAsked!: () => void;
    const launched = new Promise<void>((resolve) => {
      onLaunch = resolve;
    });
    const asked = new Promise<void>((resolve) => {
      onAsked = resolve;
    });
    const begun = this.#open({ prepared, onLaunch, onAsked });
    this.#begun = begun;
    // Whoever takes it hears why it failed; the lock is released by then, or was never there.
    const ended = begun.catch(() => prepared.then(({ lock }) => lock.release())).catch(() => undefined);
    return { launched: Promise.race([launched, ended]), asked: Promise.race([asked, ended]) };
  }

  async #open(start: EmbeddedStart = {}): Promise<OpenedNats> {
    const onGiveUp = (why: string) => this.#givingUp.abort(why);
    // The client of NATS is loaded while the programs that a server needs are asked.
    const { openNats } = await import('./open-nats.js');
    return openNats(this.config, this.log, onGiveUp, { start: { ...start, unneeded: this.#unneeded.signal } });
  }
}
