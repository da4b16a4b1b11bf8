/**
 * The opening of a process's NATS. An embedded server starts, and its layout is created or checked, while the rest of the
 * program is being loaded: both take the same time, and the start of the server is mostly waiting. An external NATS is
 * opened at each request, because it may start later than this process.
 *
 *  NOP1 `giveUp` ends an opening that its caller has not taken
 *  NOP2 no server starts in a directory with an unfinished restore
 */
import { once } from 'node:events';
import type { Config } from '../../../config/index.js';
import type { Log, Subscription } from '../../../ports/index.js';
import type { NatsConnections, NatsOptions } from '../connection.js';
import { markFile, refuseUnfinishedRestore } from '../restore-mark.js';
import type { AwaitedStart } from './awaited-start.js';
import type { EmbeddedStart } from './embedded-nats.js';
import type { ReachedNats } from './open-nats.js';
import type { OpenedNats } from './opened-nats.js';
import { prepareServer } from './prepared-server.js';

/** The heartbeats that a live process has sent before its silence counts. */
const HEARD_HEARTBEATS = 2;

interface HeardOthers {
  /** Limits the part of the silence before now that counts. */
  countSilenceFor(ms: number): void;
}

export class NatsOpening {
  /** Resolves with the reason if NATS is given up. */
  readonly failed: Promise<string>;
  /** Resolves when the embedded server runs, or has failed; until it accepts connections it does not need this event loop. */
  readonly launched: Promise<unknown>;
  /** Resolves when the rest of the opening is work of the server, or when the opening has ended. */
  readonly asked: Promise<unknown>;
  readonly #givingUp = new AbortController();
  readonly #unneeded = new AbortController();
  #begun: Promise<OpenedNats> | undefined;

  constructor(
    private readonly config: Config,
    private readonly log: Log,
    /** The embedded server of the supervisor of this process. */
    private readonly shared?: NatsOptions | undefined,
  ) {
    const { signal } = this.#givingUp;
    this.failed = once(signal, 'abort').then(() => signal.reason as string);
    const isOwn = config.isEmbedded && shared === undefined;
    const steps = isOwn ? this.#begin() : { launched: Promise.resolve(), asked: Promise.resolve() };
    this.launched = steps.launched;
    this.asked = steps.asked;
  }

  /** @returns the connections, which the caller closes. @throws MillraceError with one line for the operator */
  take(reached?: ReachedNats): Promise<OpenedNats> {
    const begun = this.#begun;
    this.#begun = undefined;
    return begun ?? this.#open({}, reached);
  }

  /**
   * As `take`. This process receives heartbeats of others while NATS elects its leaders, so that it need not wait for ended
   * processes afterwards. A server without its cluster passed no heartbeats on: the silence before that counts, except
   * for the time of two heartbeats.
   * @param listen  called when it is connected, once for each connection
   */
  async takeListening(
    awaited: Pick<AwaitedStart, 'untilNextTry' | 'goesOn'>,
    listen: (connections: NatsConnections) => HeardOthers,
  ): Promise<OpenedNats> {
    let others: HeardOthers | undefined;
    let reconnects: Subscription | undefined;
    const onConnected = (connections: NatsConnections) => {
      const heard = listen(connections);
      others = heard;
      reconnects = connections.control.onReconnect(() => heard.countSilenceFor(0));
    };
    const opened = await this.take({ onConnected, untilNextTry: (reason) => awaited.untilNextTry(reason) });
    awaited.goesOn();
    if (others === undefined) onConnected(opened.connections);
    reconnects?.stop();
    const { takeoverSilenceMs, sessionHeartbeatMs } = this.config.ownership;
    others?.countSilenceFor(Math.max(0, takeoverSilenceMs - HEARD_HEARTBEATS * sessionHeartbeatMs));
    return opened;
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
    // NOP2. Opening the server checks the same.
    const prepared = refuseUnfinishedRestore(markFile(dataDir), dataDir).then(() =>
      prepareServer(this.config, this.log),
    );
    // It may fail before a caller waits for it.
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
    // The caller of `take` gets the failure; by then the lock is released, or was never acquired.
    const ended = begun.catch(() => prepared.then(({ lock }) => lock.release())).catch(() => undefined);
    return { launched: Promise.race([launched, ended]), asked: Promise.race([asked, ended]) };
  }

  async #open(start: EmbeddedStart, reached?: ReachedNats): Promise<OpenedNats> {
    const onGiveUp = (reason: string) => this.#givingUp.abort(reason);
    // The NATS client is loaded while the programs that a server needs are checked.
    const { openNats } = await import('./open-nats.js');
    return openNats(this.config, this.log, onGiveUp, {
      start: { ...start, unneeded: this.#unneeded.signal },
      reached,
      shared: this.shared,
    });
  }
}
