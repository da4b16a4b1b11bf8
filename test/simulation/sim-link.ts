/**
 * The connection of one process to the simulated server. All messages of the simulated ports use it.
 *
 *  SIL1 the messages of one process on one channel arrive in order, except for lost and late ones
 *  SIL2 a cut loses the answers under way; the process detects it some time later, and then every waiting request
 *       fails
 *  SIL3 `not-sent` is reported only when no message was sent
 */
import type { Faults } from './faults.js';
import type { Cancellable, Scheduler } from './scheduler.js';
import type { SeededRandom } from './seeded-random.js';
import type { SimProcess } from './sim-process.js';

export type Answer<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'not-sent' }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'disconnected' };

/** The latency of a message between a process and the server in one network. */
const LATENCY_MS = { low: 0.05, high: 0.6 };
/** The delay of a late message: beyond any timeout, within a takeover and far after it. */
const LATE_MS = { low: 500, high: 15_000 };
/** The time until a client detects a dead connection: immediately after a reset, otherwise by missed pings. */
const NOTICE_MS = { low: 1, high: 4_000 };
/** The delay of a reconnect, with jitter. */
const RECONNECT_MS = { low: 20, high: 400 };
/** The minimum distance of two messages of one channel, which keeps their order. */
const APART_MS = 0.0001;

export class SimLink {
  private isUp = true;
  private connected = true;
  private generation = 0;
  private readonly lastArrivalMs = new Map<string, number>();
  private readonly waiting = new Set<() => void>();

  constructor(
    readonly process: SimProcess,
    private readonly scheduler: Scheduler,
    private readonly random: SeededRandom,
    readonly faults: () => Faults,
  ) {}

  /** The state of the connection as the process knows it. */
  isConnected(): boolean {
    return this.connected;
  }

  /** True if a message would currently arrive. */
  get isWhole(): boolean {
    return this.isUp;
  }

  cut(forMs: number): void {
    if (!this.isUp) return;
    this.scheduler.trace.note(this.process.name, `cut off from the server for ${Math.round(forMs)} ms`);
    this.isUp = false;
    this.generation += 1;
    const { generation } = this;
    const noticeMs = this.random.chance(0.5) ? NOTICE_MS.low : this.random.between(NOTICE_MS.low, NOTICE_MS.high);
    this.scheduler.at(this.scheduler.nowMs + noticeMs, this.process, 'message', 'disconnect noticed', () => {
      if (this.generation === generation) this.loseConnection();
    });
    this.scheduler.at(this.scheduler.nowMs + forMs, undefined, 'message', 'cut mended', () => {
      this.isUp = true;
      const backMs = this.scheduler.nowMs + this.random.between(RECONNECT_MS.low, RECONNECT_MS.high);
      this.scheduler.at(backMs, this.process, 'message', 'reconnected', () => {
        if (this.generation !== generation) return;
        // A process that has not detected the cut detects it with the new connection.
        this.loseConnection();
        this.generation += 1;
        this.connected = true;
      });
    });
  }

  /** Sends a message to the server, which runs `action`. @returns false if the process knows that it cannot send */
  send(channel: string, label: string, action: () => void, fate: { lost?: boolean; late?: boolean } = {}): boolean {
    if (!this.connected) return false;
    if (!this.isUp || fate.lost) return true;
    if (fate.late) {
      const lateMs = this.scheduler.nowMs + this.random.between(LATE_MS.low, LATE_MS.high);
      this.scheduler.at(lateMs, undefined, 'message', `late ${label}`, action);
      return true;
    }
    this.scheduler.at(this.arrival(`>${channel}`), undefined, 'message', label, action);
    return true;
  }

  /** Sends a message to the process, which runs `action` unless the connection broke before. */
  deliver(channel: string, label: string, action: () => void, extraMs = 0): void {
    const { generation } = this;
    if (!this.isUp) return;
    const arrivalMs = extraMs > 0 ? this.scheduler.nowMs + extraMs : this.arrival(`<${channel}`);
    this.scheduler.at(arrivalMs, this.process, 'message', label, () => {
      if (this.generation === generation && this.connected) action();
    });
  }

  /** Sends a request to the server once; `serve` runs there if the request arrives. */
  request<T>(
    channel: string,
    label: string,
    timeoutMs: number,
    serve: (reply: (value: T) => void) => void,
  ): Promise<Answer<T>> {
    return new Promise((resolve) => {
      const faults = this.faults();
      let timer: Cancellable | undefined;
      const settle = (answer: Answer<T>) => {
        timer?.cancel();
        this.waiting.delete(onDisconnect);
        resolve(answer);
      };
      const onDisconnect = () => settle({ kind: 'disconnected' });
      const reply = (value: T) => {
        if (this.random.chance(faults.replyLost)) return;
        const extraMs = this.random.chance(faults.replySlow) ? this.random.between(50, LATE_MS.high / 3) : 0;
        this.deliver(channel, `answer to ${label}`, () => settle({ kind: 'answered', value }), extraMs);
      };
      const fate = { lost: this.random.chance(faults.requestLost), late: this.random.chance(faults.requestLate) };
      if (!this.send(channel, label, () => serve(reply), fate)) {
        resolve({ kind: 'not-sent' });
        return;
      }
      this.waiting.add(onDisconnect);
      timer = this.scheduler.at(this.scheduler.nowMs + timeoutMs, this.process, 'timer', `${label} timed out`, () =>
        settle({ kind: 'timed-out' }),
      );
    });
  }

  private loseConnection(): void {
    if (!this.connected) return;
    this.connected = false;
    for (const fail of [...this.waiting]) fail();
  }

  private arrival(channel: string): number {
    const earliestMs = this.scheduler.nowMs + this.random.between(LATENCY_MS.low, LATENCY_MS.high);
    const arrivalMs = Math.max(earliestMs, (this.lastArrivalMs.get(channel) ?? 0) + APART_MS);
    this.lastArrivalMs.set(channel, arrivalMs);
    return arrivalMs;
  }
}
