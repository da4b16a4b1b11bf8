/**
 * Asks the identity provider of each live session about the groups of its person, in the process that owns the control
 * shard.
 *
 *  IDC1 a removed group, a deleted person or a revoked token ends the session at its next check
 *  IDC2 a provider that does not answer ends no session for UNANSWERED_MS; then the session ends, because its rights
 *       are no longer known
 *  IDC3 checks are bounded: at most CHECKS_AT_ONCE at a time, and a look begins after the end of the last one
 */
import { auditActionNumber, type ControlState, mappedRoles, type SignInSession } from '../../domain/control/index.js';
import { describeError, isMillraceError } from '../../kernel/index.js';
import type {
  Clock,
  IdentityProviders,
  Log,
  ManagementControl,
  ProviderTokens,
  Sealing,
  Timer,
  Timers,
} from '../../ports/index.js';

export interface ProviderChecksPorts {
  readonly control: ManagementControl;
  readonly providers: Pick<IdentityProviders, 'check' | 'rolesOf'>;
  readonly sealing: Sealing;
  /** This process's copy. */
  readonly state: () => ControlState;
  /** True when this process owns the control shard. */
  isOwner(): boolean;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

/** As long as a restart of a provider takes. Keys of the installation work without it. */
const UNANSWERED_MS = 300_000;
/** With answers within 100 ms, 1,600 sessions are checked in 20 s. */
const CHECKS_AT_ONCE = 8;

export class ProviderChecks {
  #timer: Timer | undefined;
  #isLooking = false;
  #isStopped = false;
  /** When the provider first did not answer, by session. */
  readonly #unansweredSinceMs = new Map<string, number>();

  constructor(
    private readonly ports: ProviderChecksPorts,
    private readonly everyMs: number,
  ) {}

  start(): void {
    this.#timer = this.ports.timers.every(this.everyMs, () => this.look());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Never rejects. */
  async look(): Promise<void> {
    const { isOwner, state, clock } = this.ports;
    if (!isOwner() || this.#isLooking) return;
    this.#isLooking = true;
    const nowMs = clock.nowMs();
    const live = [...state().sessions.byName.values()].filter(
      // The session of an access token stores no tokens: it ends with that token.
      ({ provider, tokens, untilMs }) => provider !== '' && tokens !== '' && untilMs > nowMs,
    );
    const names = new Set(live.map(({ name }) => name));
    for (const name of this.#unansweredSinceMs.keys()) if (!names.has(name)) this.#unansweredSinceMs.delete(name);
    const next = live.values();
    const work = async () => {
      for (const session of next) {
        if (this.#isStopped) return;
        await this.#check(session);
      }
    };
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, work));
    this.#isLooking = false;
  }

  async #check(session: SignInSession): Promise<void> {
    const { log, clock } = this.ports;
    const { name, provider } = session;
    try {
      await this.#settle(session);
      this.#unansweredSinceMs.delete(name);
    } catch (error) {
      const cause = describeError(error);
      const isOver = isMillraceError(error, 'INVALID') || isMillraceError(error, 'NOT_FOUND');
      const since = this.#unansweredSinceMs.get(name) ?? clock.monotonicMs();
      this.#unansweredSinceMs.set(name, since);
      if (isOver || clock.monotonicMs() - since >= UNANSWERED_MS) await this.#end(session, cause);
      else log.warn('sign-in.check-failed', { provider, cause });
    }
  }

  /** @throws as `IdentityProviders.check`; errors of the connection to the control actor */
  async #settle({ name, email, account, provider, tokens }: SignInSession): Promise<void> {
    const { providers, state, control, sealing } = this.ports;
    const person = state().providerPeople.byEmail.get(email);
    if (person === undefined) return;
    const known = JSON.parse(sealing.open(tokens)) as ProviderTokens;
    const identity = await providers.check(provider, person.subject, known);
    const roles = mappedRoles(state(), providers.rolesOf(provider), identity.groups, provider);
    if (JSON.stringify(roles) !== JSON.stringify(person.roles)) {
      const texts = roles.map((role) => `${role.role} of ${role.account}`).join(', ');
      const note = {
        actor: email,
        action: auditActionNumber('changeProviderRoles'),
        source: `PROVIDER - ${provider}`,
        entity: email,
        secondaryEntity: texts === '' ? 'no role' : texts,
        thirdEntity: '',
        ip: '',
        reason: '',
      };
      const command = { type: 'SetPersonRoles', email, roles } as const;
      await control.send({ type: 'Audited', account, note, command });
    }
    if (identity.tokens.access !== known.access) {
      const sealed = sealing.seal(JSON.stringify(identity.tokens));
      await control.send({ type: 'SetSessionTokens', session: name, tokens: sealed });
    }
  }

  async #end({ name, email, account, provider, untilMs }: SignInSession, reason: string): Promise<void> {
    const note = {
      actor: email,
      action: auditActionNumber('endSession'),
      source: `PROVIDER - ${provider}`,
      entity: email,
      secondaryEntity: '',
      thirdEntity: '',
      ip: '',
      reason,
    };
    const command = { type: 'SignOut', session: name, untilMs } as const;
    try {
      await this.ports.control.send({ type: 'Audited', account, note, command });
      this.ports.log.info('sign-in.session-ended', { provider, cause: reason });
    } catch (error) {
      this.ports.log.warn('sign-in.check-failed', { provider, cause: describeError(error) });
    }
  }
}
