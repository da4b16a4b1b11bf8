/**
 * Moves a database to the next plan when it has reached a limit and has automatic upgrades switched on. Any process
 * that meets the limit asks the control actor. Several may ask, but all name the same plan, so the database moves once.
 *
 *  AU1 a database with eviction is not moved because of its size: eviction wins
 *  AU2 after a move no further one is asked for during `QUIET_MS`, in which every process learns of the new plan
 */
import {
  type AuditNote,
  auditActionNumber,
  type ControlState,
  DATABASE_PLAN_TERMS,
  type DatabasePlan,
} from '../../domain/control/index.js';
import { type DatabaseId, describeError } from '../../kernel/index.js';
import type { Clock, Log } from '../../ports/index.js';
import type { ControlClient } from './control-client.js';

export interface AutoUpgradePorts {
  readonly client: ControlClient;
  readonly view: { readonly state: ControlState };
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * More than twice the age at which a process's copy stops answering (AU2: no further move while processes learn of the
 * new plan).
 */
const QUIET_MS = 5_000;
/** A change of the control shard's owner takes about this time. */
const RETRY_MS = 1_000;

type Reached = 'bandwidth' | 'data';

export class AutoUpgrade {
  /** No move is asked for before this time. */
  readonly #quietUntilMs = new Map<DatabaseId, number>();

  constructor(private readonly ports: AutoUpgradePorts) {}

  /**
   * May be called any number of times. @returns when the control actor has answered, or immediately when there is no
   * move to ask for; never rejects
   */
  async reached(id: DatabaseId, limit: Reached): Promise<void> {
    const { view, clock, log } = this.ports;
    const database = view.state.live(id);
    const { settings } = database ?? {};
    if (database === undefined || settings?.isAutoUpgrading !== true) return;
    if (limit === 'data' && settings.isEvicting) return; // AU1: eviction wins
    const plan = DATABASE_PLAN_TERMS[settings.plan].next;
    const nowMs = clock.monotonicMs();
    if (plan === undefined || nowMs < (this.#quietUntilMs.get(id) ?? 0)) return;
    // Another process moved it a moment ago; its clock may be ahead of this one.
    if (Math.abs(clock.nowMs() - settings.lastPlanUpgradeAtMs) < QUIET_MS) return;
    this.#forgetOver(nowMs);
    this.#quietUntilMs.set(id, nowMs + QUIET_MS);
    try {
      const reply = await this.ports.client.send({
        type: 'Audited',
        account: database.account,
        note: noteOf(database.name, plan, limit),
        command: {
          type: 'ChangeDatabase',
          account: database.account,
          database: id,
          // The plan's limits change with it.
          change: { settings: { plan } },
        },
      });
      if (reply.type !== 'Rejected')
        log.info('database.upgraded', { database: id, from: settings.plan, to: plan, limit });
      else log.warn('database.upgrade-refused', { database: id, plan, reason: reply.reason });
    } catch (error) {
      this.#quietUntilMs.set(id, nowMs + RETRY_MS);
      log.warn('database.upgrade-failed', { database: id, plan, cause: describeError(error) });
    }
  }

  #forgetOver(nowMs: number): void {
    for (const [id, untilMs] of this.#quietUntilMs) if (untilMs <= nowMs) this.#quietUntilMs.delete(id);
  }
}

/** The audit log names the setting as the actor, because no person made the change. */
function noteOf(name: string, plan: DatabasePlan, limit: Reached): AuditNote {
  return {
    actor: 'auto-upgrade',
    action: auditActionNumber('changePlan'),
    source: 'AUTO UPGRADE',
    entity: name,
    secondaryEntity: plan,
    thirdEntity: '',
    ip: '',
    reason: `the ${limit} limit of the plan was reached`,
  };
}
