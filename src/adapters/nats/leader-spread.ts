/**
 * Which server leads which stream. Leaders gather on servers that have been up for longest: after each of three servers was
 * ended in turn, one of them leads nearly everything, and when that one dies, everything waits for elections. So they are
 * spread again.
 *
 *  LSP1 a stream moves only to a replica that is there and has everything, and only one at a time
 *  LSP2 the leases and the control stream have two leaders: each can stand in for the other while it has none
 *  LSP3 servers lead as many of the other streams, give or take one; nothing moves while they do
 */
import { describeError } from '../../kernel/index.js';
import { CONTROL_SHARD } from '../../messages/index.js';
import type { Log, Timer, Timers } from '../../ports/index.js';
import type { OpenedNats } from './installation/opened-nats.js';
import { JetStreamApi } from './jetstream-api.js';
import { listStreams, type StreamSource } from './stream-list.js';
import { isAtLeast, PREFERRED_LEADERS } from './versions.js';

export interface LedStream {
  /** Without prefix. */
  readonly key: string;
  readonly leader: string;
  /** Servers that could lead it at once, the leader not among them. */
  readonly others: readonly string[];
}

interface Move {
  readonly key: string;
  readonly to: string;
}

/** Long against what a step costs: some tens of milliseconds for the clients of one shard. */
const LOOK_EVERY_MS = 30_000;
const NEXT_MOVE_MS = 2000;
const APART = ['leases', CONTROL_SHARD] as const;

/** What would have to move first; undefined: leaders are spread, or cannot be now. */
export function nextMove(streams: readonly LedStream[]): Move | undefined {
  const led = new Map<string, number>();
  for (const { leader, others } of streams) {
    for (const server of others) led.set(server, led.get(server) ?? 0);
    led.set(leader, (led.get(leader) ?? 0) + 1);
  }
  const load = (server: string) => led.get(server) ?? 0;
  const leastLoaded = (servers: readonly string[]) => [...servers].sort((a, b) => load(a) - load(b))[0];
  const [leases, control] = APART.map((key) => streams.find((stream) => stream.key === key));
  if (leases !== undefined && leases.leader === control?.leader) {
    const to = leastLoaded(control.others);
    if (to !== undefined) return { key: control.key, to };
  }
  for (const { key, leader, others } of streams) {
    const to = leastLoaded(others);
    const isFree = !APART.some((apart) => apart === key);
    if (isFree && to !== undefined && load(leader) - load(to) >= 2) return { key, to };
  }
  return undefined;
}

export class LeaderSpread {
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(
    private readonly nats: StreamSource & Pick<OpenedNats, 'connections'>,
    private readonly ports: { readonly timers: Timers; readonly log: Log },
    /** One process does this for all. */
    private readonly isInCharge: () => boolean,
  ) {
    if (nats.layout.replicas > 1) this.#wait(LOOK_EVERY_MS);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** @returns whether a stream was moved. @throws JOURNAL_UNAVAILABLE, JetStreamRefusal */
  async look(): Promise<boolean> {
    const { connections } = this.nats;
    if (!connections.serverVersions().every((version) => isAtLeast(version, PREFERRED_LEADERS))) return false;
    const listed = await listStreams(this.nats);
    const streams = [...listed].flatMap(([key, { cluster }]) => {
      const { leader, replicas = [] } = cluster ?? {};
      const others = replicas.filter(({ current, offline }) => current && offline !== true).map(({ name }) => name);
      return leader === undefined ? [] : [{ key, leader, others }];
    });
    const move = nextMove(streams);
    const stream = move && listed.get(move.key)?.config.name;
    if (move === undefined || stream === undefined) return false;
    const placement = { preferred: move.to };
    await new JetStreamApi(connections.control).call(`STREAM.LEADER.STEPDOWN.${stream}`, { placement });
    this.ports.log.info('nats.leader-moved', { stream: move.key, to: move.to });
    return true;
  }

  #wait(ms: number): void {
    if (this.#isStopped) return;
    this.#timer = this.ports.timers.after(ms, async () => {
      let hasMoved = false;
      try {
        hasMoved = this.isInCharge() && (await this.look());
      } catch (error) {
        this.ports.log.debug('nats.leaders-not-spread', { cause: describeError(error) });
      }
      this.#wait(hasMoved ? NEXT_MOVE_MS : LOOK_EVERY_MS);
    });
  }
}
