/**
 * Who may do what, as this process knows it: answers at once from its copy of the control state, and
 * refuses to answer when the copy may be old.
 *
 *  CV1 nothing is answered before the copy has reached what the journal held when it was first heard
 *  CV2 nothing is answered once neither the journal nor the owner has been heard for `staleMs`; after such a silence
 *      CV1 holds anew, because what was said meanwhile has to be applied first. The owner counts as heard when the copy
 *      has all that it names (owner-word.ts). Where only this process can be the owner, what it has stored is looked at
 *      instead: while the copy has that, the journal may be silent for longer, and need not say so often that it is there
 *  CV3 no grant outlives the change that took it away: what was looked up is forgotten with every
 *      change of who may do what (leases of quota and counts are not such changes)
 */
import { encodeControlApplied } from '../../codec/control/index.js';
import type { ControlState } from '../../domain/control/index.js';
import {
  type BackupId,
  type ByteString,
  describeError,
  MillraceError,
  Remembered,
  type SessionId,
} from '../../kernel/index.js';
import { CONTROL_SHARD } from '../../messages/index.js';
import type { Access, Bus, Clock, KvGrant, RespAccess } from '../../ports/index.js';
import { ControlFollower, type ControlFollowerPorts } from './control-follower.js';
import { Grants } from './grants.js';
import { OwnerWord } from './owner-word.js';

export interface ControlViewPorts extends ControlFollowerPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  /** Called when the journal is heard again, and all of it applied, after a silence; before anything is answered. */
  readonly onBackInTouch?: (silentForMs: number) => void;
}

export interface ControlViewOptions {
  readonly session: SessionId;
  readonly staleMs: number;
  /** The owner is asked while the journal is silent. Left out: no, as where nobody else may own it. */
  readonly asksOwner?: boolean;
  /**
   * Where nobody else may own it: the position of the last change of who may do what that its owner, here, has stored;
   * undefined while it does not serve.
   */
  readonly storedHere?: () => number | undefined;
}

/** Looked-up tokens kept: as many clients as a process serves well; beyond it all are looked up again. */
const MAX_CACHED_GRANTS = 10_000;
/** Permissions that nothing was heard of for `staleMs` are not answered from: half of its default. */
const ALIVE_EVERY_MS = 250;
/** The same where the owner is here: a server that stands still is met by whatever has to be stored, long before. */
const OWNER_HERE_STALE_MS = 3000;

export class ControlView implements Access, RespAccess {
  readonly #listeners = new Set<() => void>();
  readonly #follower: ControlFollower;
  readonly #grants = new Grants(
    () => this.state,
    () => this.#version,
  );
  #version = 0;
  readonly #grantsByToken = new Remembered<string, KvGrant>(MAX_CACHED_GRANTS);
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #isCaughtUp = false;
  /** The end of the journal when it was asked for; reaching it is being caught up. */
  #goal: number | undefined;
  #isAskingForEnd = false;
  /** Grows when the copy falls behind: an answer about the end from before says nothing. */
  #phase = 0;
  #silentForMs = 0;
  #isNoticeSoon = false;
  #onCaughtUp: (() => void)[] = [];
  readonly #untilFresh = new Set<() => void>();
  readonly #word: OwnerWord | undefined;

  constructor(
    private readonly ports: ControlViewPorts,
    private readonly options: ControlViewOptions,
  ) {
    const listener = {
      onRestart: () => this.#restarted(),
      onApplied: (isAccess: boolean) => this.#applied(isAccess),
      onHeard: (isAtEnd: boolean) => this.#heard(isAtEnd, ports.clock.monotonicMs()),
    };
    this.#follower = new ControlFollower(ports, listener, options.storedHere ? undefined : ALIVE_EVERY_MS);
    if (options.asksOwner === true) {
      this.#word = new OwnerWord(ports, options.staleMs, (position, askedAtMs) => {
        if (position <= this.position) this.#heard(true, askedAtMs);
      });
    }
  }

  /** Begins to follow. Resolves when the copy can answer for the first time. */
  start(): Promise<void> {
    const ready = new Promise<void>((resolve) => this.#onCaughtUp.push(resolve));
    this.#follower.start();
    return ready;
  }

  stop(): void {
    this.#follower.stop();
    this.#word?.stop();
    this.#isCaughtUp = false;
  }

  /** Why the journal cannot be copied, and will not be until somebody has looked. */
  get damage(): MillraceError | undefined {
    return this.#follower.damage;
  }

  /** In the control journal: everything up to it is in force here. */
  get position(): number {
    return this.#follower.position;
  }

  /** False when `grantFor` would throw. */
  get isFresh(): boolean {
    return this.#isCaughtUp && !this.#isTooLong(this.ports.clock.monotonicMs() - this.#heardAtMs);
  }

  /** CV2. */
  #isTooLong(silentForMs: number): boolean {
    if (silentForMs <= this.options.staleMs) return false;
    const stored = this.options.storedHere?.();
    return stored === undefined || stored > this.position || silentForMs > OWNER_HERE_STALE_MS;
  }

  /** Moments of databases, failed ones left out; undefined while this process may have missed some. */
  knownBackups(): ReadonlySet<BackupId> | undefined {
    if (!this.isFresh) return undefined;
    const known = [...this.state.backups.byId.values()].filter(({ state }) => state !== 'failed');
    return new Set(known.map(({ id }) => id));
  }

  /** Resolves when it is fresh, and after `maxMs` at the latest. */
  untilFresh(maxMs: number): Promise<void> {
    if (this.isFresh) return Promise.resolve();
    return new Promise((resolve) => {
      const goOn = () => {
        timer.cancel();
        this.#untilFresh.delete(goOn);
        resolve();
      };
      const timer = this.ports.timers.after(maxMs, goOn);
      this.#untilFresh.add(goOn);
    });
  }

  grantFor(token: string): KvGrant | undefined {
    this.requireFresh();
    const cached = this.#grantsByToken.get(token);
    if (cached !== undefined) return cached;
    const grant = this.#grants.ofToken(token);
    if (grant === undefined) return undefined;
    this.#grantsByToken.set(token, grant);
    return grant;
  }

  grantForLogin(user: string | undefined, password: ByteString): KvGrant | undefined {
    this.requireFresh();
    return this.#grants.ofLogin(user, password);
  }

  renewed(grant: KvGrant): KvGrant | undefined {
    this.requireFresh();
    return this.#grants.renewed(grant);
  }

  isCurrent(grant: KvGrant): boolean {
    return this.renewed(grant) === grant;
  }

  get version(): number {
    return this.#version;
  }

  /** The copy itself, possibly old: for what nobody is let in by (names in commands, what is shown). */
  get state(): ControlState {
    return this.#follower.state;
  }

  #restarted(): void {
    this.#accessChanged();
    this.#fallBehind();
  }

  #accessChanged(): void {
    this.#version += 1;
    this.#grantsByToken.clear();
    for (const listener of this.#listeners) listener();
  }

  /** Called after changes of who may do what, accounts and search indexes included; in the order of asking. */
  whenAccessChanged(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** @throws CONTROL_STALE */
  requireFresh(): void {
    if (!this.isFresh) throw new MillraceError('CONTROL_STALE', 'this process does not know who may do what right now');
  }

  #fallBehind(): void {
    this.#isCaughtUp = false;
    this.#goal = undefined;
    this.#phase += 1;
  }

  #applied(isAccess: boolean): void {
    if (isAccess) {
      this.#accessChanged();
      if (this.#isCaughtUp) this.#noticeSoon();
    }
    if (this.#goal !== undefined && this.position >= this.#goal) this.#caughtUp();
  }

  #heard(isAtEnd: boolean, atMs: number): void {
    const silentForMs = atMs - this.#heardAtMs;
    this.#heardAtMs = Math.max(this.#heardAtMs, atMs);
    this.#word?.heard(atMs);
    if (this.#isCaughtUp && this.#isTooLong(silentForMs)) {
      this.#fallBehind();
      this.#silentForMs = silentForMs;
    }
    if (this.#isCaughtUp) {
      // It had only been silent for long, and not so long that something may have been missed.
      for (const goOn of this.#untilFresh) goOn();
    } else if (isAtEnd) this.#caughtUp();
    else if (this.#goal === undefined) this.#askForEnd();
  }

  /** While entries keep coming the journal never says that there is nothing newer. */
  #askForEnd(): void {
    if (this.#isAskingForEnd) return;
    this.#isAskingForEnd = true;
    const phase = this.#phase;
    this.ports.journal.tail(CONTROL_SHARD).then(
      ({ last }) => {
        this.#isAskingForEnd = false;
        if (this.#isCaughtUp || phase !== this.#phase) return;
        this.#goal = last;
        if (this.position >= last) this.#caughtUp();
      },
      (error: unknown) => {
        this.#isAskingForEnd = false;
        this.ports.log.debug('control.end-unknown', { cause: describeError(error) });
      },
    );
  }

  #caughtUp(): void {
    if (this.#isCaughtUp) return;
    this.#goal = undefined;
    if (this.#silentForMs > 0) this.ports.onBackInTouch?.(this.#silentForMs);
    this.#silentForMs = 0;
    this.#isCaughtUp = true;
    this.#noticeSoon();
    for (const resolve of this.#onCaughtUp.splice(0)) resolve();
    for (const goOn of this.#untilFresh) goOn();
  }

  /** One notice for all that was applied at a stretch. */
  #noticeSoon(): void {
    if (this.#isNoticeSoon) return;
    this.#isNoticeSoon = true;
    this.ports.timers.soon(() => {
      this.#isNoticeSoon = false;
      if (!this.#isCaughtUp) return;
      const { session } = this.options;
      this.ports.bus.publish(
        { kind: 'notice', shard: CONTROL_SHARD },
        encodeControlApplied({ session, position: this.position }),
      );
    });
  }
}
