/**
 * Whether the servers of a running NATS keep what replicas promise: sync and version, asked at the start and after every
 * reconnect, since a server that comes back may have other settings.
 *
 *  FIT1 a start on servers that are unfit is refused
 *  FIT2 a server that became unfit later is an alarm, and the process not ready; it serves on: others hold its writes
 */
import { describeError, isMillraceError, MillraceError } from '../../../kernel/index.js';
import type { Check, Log, Subscription } from '../../../ports/index.js';
import type { NatsConnections } from '../connection.js';
import { askServers, checkReplication } from '../server-status.js';

interface FitQuestion {
  readonly replicas: number;
  readonly allowUnsynced: boolean;
}

export class FitServers {
  readonly #reconnects: Subscription[];
  #unfit: string | undefined;
  /** Reconnects come in bundles, one of each connection. */
  #asking: Promise<void> | undefined;

  private constructor(
    private readonly connections: NatsConnections,
    private readonly question: FitQuestion,
    private readonly log: Log,
  ) {
    const links = [connections.appends, connections.system ?? connections.control];
    this.#reconnects = links.map((link) => link.onReconnect(() => this.#askAgain()));
  }

  /** @throws BAD_CONFIG (FIT1); JOURNAL_UNAVAILABLE when nobody answers who will once it is there */
  static async begin(connections: NatsConnections, question: FitQuestion, log: Log): Promise<FitServers> {
    const servers = new FitServers(connections, question, log);
    try {
      await servers.#ask();
      return servers;
    } catch (error) {
      servers.stop();
      throw error;
    }
  }

  check(): Check {
    return this.#unfit === undefined ? { ok: true } : { ok: false, detail: this.#unfit };
  }

  stop(): void {
    for (const reconnect of this.#reconnects) reconnect.stop();
  }

  #askAgain(): void {
    this.#asking ??= this.#ask()
      .then(() => {
        this.#unfit = undefined;
      })
      .catch((error: unknown) => {
        // Without an answer there is another reconnect to come.
        if (!isMillraceError(error, 'BAD_CONFIG')) return;
        this.#unfit = describeError(error);
        this.log.error('nats.servers_unfit', { why: this.#unfit });
      })
      .finally(() => {
        this.#asking = undefined;
      });
  }

  async #ask(): Promise<void> {
    const { connections, question } = this;
    const servers = question.allowUnsynced ? 'unknown' : await askServers(connections);
    if (servers === 'unknown' && !question.allowUnsynced && connections.system !== undefined) {
      throw new MillraceError('JOURNAL_UNAVAILABLE', 'no NATS server says whether it syncs every write');
    }
    checkReplication({ ...question, servers, atLeast: 1, connectedVersions: connections.serverVersions() });
  }
}
