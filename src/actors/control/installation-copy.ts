/**
 * Has the installation copied continuously to the place of backups, by a separate process, while this process owns the control
 * shard. An owner that ends takes its copier with it; the next one continues.
 */
import type { CopyNews } from '../../journal/backup/index.js';
import { describeError } from '../../kernel/index.js';
import type { Clock, CopyReading, CopyWatch, Log, Metrics, Timer, Timers } from '../../ports/index.js';

export interface InstallationCopyPorts {
  /** True when this process owns the control shard. */
  isOwner(): boolean;
  /** Copies until the signal. @throws the reason of an earlier end */
  copy(signal: AbortSignal, onNews: (news: CopyNews) => void): Promise<void>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly metrics: Pick<Metrics, 'gauge' | 'counter'>;
  readonly log: Log;
}

const LOOK_EVERY_MS = 1_000;
/** A copier that cannot start is started again after this time. */
const RESTART_MS = 10_000;

export class InstallationCopy implements CopyWatch {
  #timer: Timer | undefined;
  #running: { readonly ended: AbortController; readonly sinceMs: number } | undefined;
  #over: Promise<void> = Promise.resolve();
  #news: CopyNews | undefined;
  #notBeforeMs = 0;
  #failure: string | undefined;
  readonly #gauges: { stop(): void }[] = [];

  /** @param place  its name in messages */
  constructor(
    private readonly ports: InstallationCopyPorts,
    private readonly place: string,
  ) {}

  start(): void {
    const { metrics, timers } = this.ports;
    const seconds = (read: (reading: CopyReading) => number | undefined) => () => {
      const reading = this.reading();
      const ms = reading && read(reading);
      return ms === undefined ? undefined : ms / 1000;
    };
    this.#gauges.push(
      metrics.gauge(
        'millrace_backup_age_seconds',
        seconds(({ ageMs }) => ageMs),
      ),
      metrics.gauge(
        'millrace_backup_full_age_seconds',
        seconds(({ fullAgeMs }) => fullAgeMs),
      ),
    );
    this.#timer = timers.every(LOOK_EVERY_MS, () => this.look());
    this.look();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    for (const gauge of this.#gauges) gauge.stop();
    this.#running?.ended.abort();
    await this.#over;
  }

  /** Starts or ends the copier. */
  look(): void {
    const isOwner = this.ports.isOwner();
    if (!isOwner) this.#running?.ended.abort();
    if (!isOwner || this.#running !== undefined || this.ports.clock.nowMs() < this.#notBeforeMs) return;
    const running = { ended: new AbortController(), sinceMs: this.ports.clock.nowMs() };
    this.#running = running;
    this.#over = this.#copy(running.ended.signal);
  }

  /** Undefined when another process has the copier. Before the first round the age is that of the copier. */
  reading(): CopyReading | undefined {
    const { place } = this;
    const nowMs = this.ports.clock.nowMs();
    if (!this.ports.isOwner()) return undefined;
    const { untilMs, fullMs } = this.#news ?? {};
    const ageMs = Math.max(0, nowMs - (untilMs ?? this.#running?.sinceMs ?? nowMs));
    const fullAgeMs = fullMs === undefined ? undefined : Math.max(0, nowMs - fullMs);
    return { place, ageMs, fullAgeMs, failure: this.#failure };
  }

  async #copy(signal: AbortSignal): Promise<void> {
    const { copy, clock, log } = this.ports;
    try {
      await copy(signal, (news) => this.#learn(news));
    } catch (error) {
      if (!signal.aborted) {
        this.#fail(describeError(error));
        log.error('copy.ended', { place: this.place, cause: describeError(error) });
      }
    }
    this.#notBeforeMs = signal.aborted ? 0 : clock.nowMs() + RESTART_MS;
    this.#running = undefined;
    if (signal.aborted) this.#news = undefined;
  }

  #learn(news: CopyNews): void {
    const { metrics, log } = this.ports;
    // A failure says how far an earlier attempt of the same copier came.
    this.#news = news;
    metrics.counter('millrace_backup_bytes_total').add(news.bytes);
    if (news.failure === undefined) {
      if (this.#failure !== undefined) log.info('copy.continues', { place: this.place });
      this.#failure = undefined;
      return;
    }
    if (this.#failure === undefined) log.warn('copy.failed', { place: this.place, cause: news.failure });
    this.#fail(news.failure);
  }

  #fail(failure: string): void {
    this.#failure = failure;
    this.ports.metrics.counter('millrace_backup_failures_total').add();
  }
}
