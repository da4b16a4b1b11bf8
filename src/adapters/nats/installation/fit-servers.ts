/**
 * Checks whether the servers of an external NATS are fit for replicas: they sync, and have a sufficient version. The check
 * runs at the start and after every reconnect, because a restarted server may have other settings.
 *
 *  FIT1 a start on unfit servers is refused
 *  FIT2 a server that becomes unfit later raises an alarm, and the process is not ready; it still serves, because other
 *       servers hold its writes
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
  /** A reconnect is reported once for each connection. */
  #asking: Promise<void> | undefined;

  private constructor(
    private readonly connections: NatsConnections,
    private readonly question: FitQuestion,
    private readonly log: Log,
  ) {
    const links = [connections.appends, connections.system ?? connections.control];
    this.#reconnects = links.map((link) => link.onReconnect(() => this.#askAgain()));
  }

  /** @throws BAD_CONFIG (FIT1); JOURNAL_UNAVAILABLE while servers that must answer are not running */
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
        // Without an answer another reconnect follows.
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
