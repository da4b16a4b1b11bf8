/**
 * Distributes the leaders of streams over the servers. Leaders gather on the servers with the longest uptime: after
 * each of three servers was restarted in turn, one leads nearly all streams, and at its death all of them wait for elections.
 *
 *  LSP1 a stream moves only to a connected replica without a lag, and only one stream at a time
 *  LSP2 the leases and the control stream have two leaders, so that each can continue while the other has none
 *  LSP3 servers lead as many of the other streams, give or take one; no stream moves while they do
 *  LSP4 no stream moves while one has no leader, because an election is in progress; a moved stream rests for a
 *       minute, so that one that its server returns is not moved repeatedly
 */
import { describeError } from '../../kernel/index.js';
import type { Clock, Log, Timer, Timers } from '../../ports/index.js';
import { CONTROL_SHARD } from '../../protocol/index.js';
import type { OpenedNats } from './installation/opened-nats.js';
import { JetStreamApi } from './jetstream-api.js';
import { declaredKeys, listStreams, type StreamSource } from './stream-list.js';
import { isAtLeast, PREFERRED_LEADERS } from './versions.js';

export interface LedStream {
  /** Without prefix. */
  readonly key: string;
  readonly leader: string;
  /** Servers that could lead it now, without the leader. */
  readonly others: readonly string[];
}

interface Move {
  readonly key: string;
  readonly to: string;
}

/** Leaders are spread within a minute after a fault: a look, and a move for two of three streams, of which there may be 60. */
const LOOK_EVERY_MS = 10_000;
/** Long against what a move costs: some tens of milliseconds for the clients of one shard. */
const NEXT_MOVE_MS = 700;
const REST_MS = 60_000;
const APART = ['leases', CONTROL_SHARD] as const;

/**
 * The next stream to move; undefined: leaders are distributed, or cannot be now.
 * @param mayMove  true when a stream has rested since its last move
 */
export function nextMove(
  streams: readonly LedStream[],
  mayMove: (key: string) => boolean = () => true,
): Move | undefined {
  const led = new Map<string, number>();
  for (const { leader, others } of streams) {
    for (const server of others) led.set(server, led.get(server) ?? 0);
    led.set(leader, (led.get(leader) ?? 0) + 1);
  }
  const load = (server: string) => led.get(server) ?? 0;
  const leastLoaded = (servers: readonly string[]) => [...servers].sort((a, b) => load(a) - load(b))[0];
  const [leases, control] = APART.map((key) => streams.find((stream) => stream.key === key));
  if (leases !== undefined && leases.leader === control?.leader && mayMove(control.key)) {
    const to = leastLoaded(control.others);
    if (to !== undefined) return { key: control.key, to };
  }
  for (const { key, leader, others } of streams) {
    const to = leastLoaded(others);
    const isFree = !APART.some((apart) => apart === key) && mayMove(key);
    if (isFree && to !== undefined && load(leader) - load(to) >= 2) return { key, to };
  }
  return undefined;
}

export class LeaderSpread {
  #timer: Timer | undefined;
  #isStopped = false;
  readonly #movedAtMs = new Map<string, number>();

  constructor(
    private readonly nats: StreamSource & Pick<OpenedNats, 'connections'>,
    private readonly ports: { readonly clock: Clock; readonly timers: Timers; readonly log: Log },
    /** True in the one process that does this for all. */
    private readonly isInCharge: () => boolean,
  ) {
    if (nats.layout.replicas > 1) this.#wait(LOOK_EVERY_MS);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** @returns whether a stream was moved. @throws JOURNAL_UNAVAILABLE */
  async look(): Promise<boolean> {
    const { connections } = this.nats;
    if (!connections.serverVersions().every((version) => isAtLeast(version, PREFERRED_LEADERS))) return false;
    const listed = await listStreams(this.nats);
    // LSP4. Servers leave streams out of the list while these have no leader.
    const isWhole = listed.size === declaredKeys(this.nats).size;
    if (!isWhole || [...listed.values()].some(({ cluster }) => cluster !== undefined && !cluster.leader)) return false;
    const nowMs = this.ports.clock.monotonicMs();
    const streams = [...listed].flatMap(([key, { cluster }]) => {
      const { leader, replicas = [] } = cluster ?? {};
      const others = replicas.filter(({ current, offline }) => current && offline !== true).map(({ name }) => name);
      return leader === undefined ? [] : [{ key, leader, others }];
    });
    const hasRested = (key: string) => nowMs - (this.#movedAtMs.get(key) ?? -REST_MS) >= REST_MS;
    const move = nextMove(streams, hasRested);
    const stream = move && listed.get(move.key)?.config.name;
    if (move === undefined || stream === undefined) return false;
    this.#movedAtMs.set(move.key, nowMs);
    await new JetStreamApi(connections.control).moveLeader(stream, move.to);
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
