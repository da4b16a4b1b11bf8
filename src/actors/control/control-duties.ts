/**
 * Background work of the control shard's owner: it has the meter's log counted, and ends the quota leases of ended
 * processes. It begins when the actor serves and ends with it.
 */
import { describeError, type SessionId } from '../../kernel/index.js';
import type { Timer } from '../../ports/index.js';
import type { ControlPlane } from './control-plane.js';
import { DEFAULT_FOLDER_LIMITS, MeterFolder, type MeterFolderLimits, type MeterFolderPorts } from './meter-folder.js';

export interface ControlDutiesPorts extends MeterFolderPorts {
  /**
   * True when the process has been silent for `SESSION_SILENCE_MS` although it could have been heard. It has either
   * ended, or returns its slices before it allows further commands (QS4: slices are returned after a long silence).
   */
  isGone(session: SessionId, silenceMs: number): boolean;
}

/**
 * Three times the silence after which a process returns its slices itself, and enough time for its last record to be
 * counted.
 */
const SESSION_SILENCE_MS = 30_000;
/** Time between two checks for ended processes. */
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
        // Its last record is in the log; the use that the record shows stays counted.
        await this.#folder.fold();
        await this.ports.client.send({ type: 'EndSession', session });
      }
    } catch (error) {
      this.ports.log.warn('control.end-session-failed', { cause: describeError(error) });
    }
  }
}
