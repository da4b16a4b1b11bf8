/**
 * What the owner of the control shard does beside answering: has the meter's log counted, and ends the
 * quota leases of processes that are gone. Begins when the actor serves, ends with it.
 */
import { describeError, type SessionId } from '../../kernel/index.js';
import type { Timer } from '../../ports/index.js';
import type { ControlPlane } from './control-plane.js';
import { DEFAULT_FOLDER_LIMITS, MeterFolder, type MeterFolderLimits, type MeterFolderPorts } from './meter-folder.js';

export interface ControlDutiesPorts extends MeterFolderPorts {
  /**
   * Has nothing been heard of this process for `SESSION_SILENCE_MS`, though it could have been? It then
   * either is gone or gives its slices back before it lets anything through (QS4).
   */
  isGone(session: SessionId, silenceMs: number): boolean;
}

/** Three times what makes a process give its slices back by itself, and long enough for its last record to be counted. */
const SESSION_SILENCE_MS = 30_000;
/** Between two looks for processes that are gone. */
const LOOK_EVERY_MS = 5000;

export class ControlDuties {
  readonly #folder: MeterFolder;
  #look: Timer | undefined;
  #isStopped = true;

  constructor(
    private readonly ports: ControlDutiesPorts,
    private readonly plane: ControlPlane,
    limits: MeterFolderLimits = DEFAULT_FOLDER_LIMITS,
  ) {
    this.#folder = new MeterFolder(ports, limits);
  }

  start(): void {
    this.#isStopped = false;
    this.#folder.start(this.plane.state.meterPosition);
    this.#look = this.ports.timers.every(LOOK_EVERY_MS, () => this.#endGone());
  }

  stop(): void {
    this.#isStopped = true;
    this.#folder.stop();
    this.#look?.cancel();
  }

  async #endGone(): Promise<void> {
    try {
      for (const session of this.plane.state.quotaSessions()) {
        if (this.#isStopped) return;
        if (!this.ports.isGone(session, SESSION_SILENCE_MS)) continue;
        // Its last record is in the log, and what it shows stays used.
        await this.#folder.fold();
        await this.ports.client.send({ type: 'EndSession', session });
      }
    } catch (error) {
      this.ports.log.warn('control.end-session-failed', { cause: describeError(error) });
    }
  }
}
