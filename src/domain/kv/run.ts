/**
 * What takes effect as one, however many slices it takes: a script, a command in slices, a transaction. Until it ends
 * nothing of it leaves, and all of it can be taken back.
 *
 *  RU1 what it pushed and said stays apart while that of others is stored; when it ends it joins what is open then
 *  RU2 one that is stopped leaves the keyspace as it was, or in doubt
 *  RU3 its time is work: what its process spent in its slices, but for the first
 */
import type { Audience } from './audience.js';
import type { ServerInfo } from './command-spec.js';
import type { Effects } from './effects.js';
import type { Keyspace } from './keyspace.js';
import type { Libraries } from './libraries.js';
import { ErrorReply } from './reply.js';
import type { Settings } from './settings.js';
import { WorkMeter } from './work-meter.js';

/** Thrown into, or by, whatever is to be ended; the message says why. */
export class Stopped extends Error {}

/** Thrown out of a command that was stopped, and is part of a run that is to be undone as a whole. */
export class PartStopped extends Error {
  constructor(readonly reply: ErrorReply) {
    super(reply.text);
  }
}

/**
 * Thrown by a handler that was stopped half-way, having changed more than could be taken back: the partition's state
 * is in doubt, and has to be built again from the journal without that.
 */
export class StateInDoubt extends Error {
  constructor(readonly reply: ErrorReply) {
    super(reply.text);
  }
}

/** Says why a command has no other reply. */
export function commandStopped(why: string): ErrorReply {
  return new ErrorReply(`ERR command stopped: ${why}`);
}

/** A tenant may ask for less work than the installation allows, and never for more. */
export function workLimit(settings: Settings, mostMs: number): number {
  const given = settings.number('busy-reply-threshold');
  return given > 0 && given < mostMs ? given : mostMs;
}

/** What a run changes. */
export interface CommandRunParts {
  readonly keyspace: Keyspace;
  readonly effects: Effects;
  readonly settings: Settings;
  readonly libraries: Libraries;
  readonly audience: Audience;
}

export class AtomicRun {
  isOpen = false;
  readonly #meter: WorkMeter;
  #spentMicros = 0;
  #settingsVersion = 0;
  #librariesVersion = 0;

  constructor(
    private readonly parts: CommandRunParts,
    server: ServerInfo,
  ) {
    this.#meter = new WorkMeter(server);
  }

  /** @returns false when one is open: what begins now is a part of it, and ends with it */
  begin(): boolean {
    if (this.isOpen) return false;
    this.isOpen = true;
    this.#spentMicros = 0;
    this.#settingsVersion = this.parts.settings.version;
    this.#librariesVersion = this.parts.libraries.version;
    this.parts.keyspace.beginUndo();
    this.parts.effects.hold();
    this.parts.audience.hold?.();
    return true;
  }

  /** Lets all of it take effect (RU1). */
  end(): void {
    this.isOpen = false;
    this.parts.keyspace.endUndo();
    this.parts.effects.letGo();
    this.parts.audience.letGo?.();
  }

  /** Takes all of it back. @returns false when memory has changed all the same: then the state is in doubt (RU2) */
  undo(): boolean {
    const { settings, libraries, keyspace, effects, audience } = this.parts;
    this.isOpen = false;
    const hasWritten = effects.hasHeld;
    // Parameters and libraries are not put back.
    const isOfKeys = settings.version === this.#settingsVersion && libraries.version === this.#librariesVersion;
    const isUndone = keyspace.undo() && isOfKeys;
    effects.drop();
    audience.unsay?.();
    return isUndone || !hasWritten;
  }

  /** Ends what was stopped. @param isWhole is it a run of its own? */
  stop(reply: ErrorReply, isWhole: boolean): ErrorReply {
    if (!isWhole) throw new PartStopped(reply);
    if (!this.undo()) throw new StateInDoubt(reply);
    return reply;
  }

  /** This is called when a slice begins that is not the first. */
  goOn(): void {
    this.#meter.start();
  }

  /** This is called when the slice is over. */
  pause(): void {
    this.#spentMicros += this.#meter.workedMicros();
  }

  /** RU3. */
  get spentMs(): number {
    return this.#spentMicros / 1000;
  }
}
