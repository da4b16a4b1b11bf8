/**
 * An atomic run: a script, a command in slices, or a transaction. However many slices it takes, no effect or message of
 * it leaves before its end, and all its changes can be undone.
 *
 *  RU1 the effects and messages of an open run are kept apart while other entries are stored; at its end they join the
 *      turn that is open then
 *  RU2 a stopped run leaves the keyspace unchanged, or the partition's state is declared in doubt
 *  RU3 its time is the work that the process spent in its slices, without the first
 */
import type { Audience } from './audience.js';
import type { Effects } from './effects.js';
import type { Keyspace } from './keyspace.js';
import type { Libraries } from './libraries.js';
import type { Outbox } from './outbox.js';
import { ErrorReply } from './reply.js';
import type { SearchRegistry } from './search-registry.js';
import type { ServerInfo } from './server-info.js';
import type { Settings } from './settings.js';
import { WorkMeter } from './work-meter.js';

/** Thrown into or by a command that must end; the message says why. */
export class Stopped extends Error {}

/** Thrown by a stopped command that is part of a larger run, which must be undone as a whole. */
export class PartStopped extends Error {
  constructor(readonly reply: ErrorReply) {
    super(reply.text);
  }
}

/**
 * Thrown when a stopped command has changed more than can be undone. The partition's state is in doubt and must be
 * rebuilt from the journal, without that command.
 */
export class StateInDoubt extends Error {
  constructor(readonly reply: ErrorReply) {
    super(reply.text);
  }
}

/** The error reply of a stopped command, with the reason. */
export function commandStopped(reason: string): ErrorReply {
  return new ErrorReply(`ERR command stopped: ${reason}`);
}

/** A tenant may set a lower work limit than the installation's, but not a higher one. */
export function workLimit(settings: Settings, mostMs: number): number {
  const given = settings.number('busy-reply-threshold');
  return given > 0 && given < mostMs ? given : mostMs;
}

/** The state that a run changes. */
export interface CommandRunParts {
  readonly keyspace: Keyspace;
  readonly effects: Effects;
  readonly settings: Settings;
  readonly libraries: Libraries;
  readonly searches: Pick<SearchRegistry, 'aliases'>;
  readonly audience: Audience;
  readonly outbox: Outbox;
}

export class UndoableExecution {
  isOpen = false;
  readonly #meter: WorkMeter;
  #spentMicros = 0;
  #settingsVersion = 0;
  #librariesVersion = 0;
  #aliasesVersion = 0;

  constructor(
    private readonly parts: CommandRunParts,
    server: ServerInfo,
  ) {
    this.#meter = new WorkMeter(server);
  }

  /** @returns false when a run is already open: the command becomes part of it */
  begin(): boolean {
    if (this.isOpen) return false;
    this.isOpen = true;
    this.#spentMicros = 0;
    this.#settingsVersion = this.parts.settings.version;
    this.#librariesVersion = this.parts.libraries.version;
    this.#aliasesVersion = this.parts.searches.aliases.version;
    this.parts.keyspace.beginUndo();
    this.parts.effects.hold();
    this.parts.outbox.hold();
    this.parts.audience.hold?.();
    return true;
  }

  /** Makes all changes take effect (RU1: effects and messages join the open turn). */
  end(): void {
    this.isOpen = false;
    this.parts.keyspace.endUndo();
    this.parts.effects.letGo();
    this.parts.outbox.letGo();
    this.parts.audience.letGo?.();
  }

  /**
   * Undoes all changes. @returns false when memory has changed nevertheless: the partition's state is in doubt (RU2: a
   * stopped run leaves the keyspace unchanged, or the state is declared in doubt)
   */
  undo(): boolean {
    const { settings, libraries, searches, keyspace, effects, audience, outbox } = this.parts;
    this.isOpen = false;
    const hasWritten = effects.hasHeld;
    // Parameters, libraries and aliases are not restored.
    const isOfKeys =
      settings.version === this.#settingsVersion &&
      libraries.version === this.#librariesVersion &&
      searches.aliases.version === this.#aliasesVersion;
    const isUndone = keyspace.undo() && isOfKeys;
    effects.drop();
    outbox.drop();
    audience.unsay?.();
    return isUndone || !hasWritten;
  }

  /** Ends a stopped command. @param isWhole whether it is a complete run */
  stop(reply: ErrorReply, isWhole: boolean): ErrorReply {
    if (!isWhole) throw new PartStopped(reply);
    if (!this.undo()) throw new StateInDoubt(reply);
    return reply;
  }

  /** Starts timing; called at the start of each slice except the first. */
  goOn(): void {
    this.#meter.start();
  }

  /** Stops timing; called at the end of the slice. */
  pause(): void {
    this.#spentMicros += this.#meter.workedMicros();
  }

  /** RU3: the work that the process spent in the run's slices, without the first. */
  get spentMs(): number {
    return this.#spentMicros / 1000;
  }
}
