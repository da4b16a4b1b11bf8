/**
 * One flow-control key: its limits, tokens and window. FK2 (a window begins with the first start after the previous
 * one has expired) and FK3 (an active call holds a token) are in flow-keys.ts.
 */
import type { FlowView } from '../commands.js';
import type { FlowControlSetting } from '../records.js';

export class FlowKey {
  parallelism: number | undefined;
  rate: number | undefined;
  periodSeconds = 1;
  isPaused = false;
  isParallelismPinned = false;
  isRatePinned = false;
  /** Tokens in use. */
  active = 0;
  /** Starts within the window. */
  started = 0;
  windowStartedAtMs = 0;
  usedAtMs = 0;
  /** Pending messages that name the key. */
  messages = 0;
  /** The limits are known. False while only messages of a snapshot have named the key. */
  isKnown = false;

  constructor(readonly key: string) {}

  get windowEndsAtMs(): number {
    return this.windowStartedAtMs + this.periodSeconds * 1000;
  }

  get isHeld(): boolean {
    return this.isPaused || this.isParallelismPinned || this.isRatePinned;
  }

  hasFreeToken(): boolean {
    return this.parallelism === undefined || this.active < this.parallelism;
  }

  hasRate(nowMs: number): boolean {
    return this.rate === undefined || this.started < this.rate || this.windowEndsAtMs <= nowMs;
  }

  configure(setting: FlowControlSetting): void {
    if (!this.isParallelismPinned) this.parallelism = setting.parallelism;
    if (this.isRatePinned) return;
    this.rate = setting.rate;
    this.periodSeconds = setting.periodSeconds;
  }

  countStart(atMs: number): void {
    if (this.windowEndsAtMs <= atMs) {
      this.windowStartedAtMs = atMs;
      this.started = 0;
    }
    this.started += 1;
  }

  restartWindow(atMs: number): void {
    this.windowStartedAtMs = atMs;
    this.started = 0;
  }

  /** @param waiting due messages that wait */
  view(waiting: number, nowMs: number): FlowView {
    return {
      key: this.key,
      waiting,
      parallelism: this.parallelism,
      active: this.active,
      rate: this.rate,
      started: this.windowEndsAtMs <= nowMs ? 0 : this.started,
      periodSeconds: this.periodSeconds,
      windowStartedAtMs: this.windowStartedAtMs,
      isPaused: this.isPaused,
      isParallelismPinned: this.isParallelismPinned,
      isRatePinned: this.isRatePinned,
    };
  }
}
