/**
 * Moves a database to the next plan when it has reached a limit of its plan and its owner wants that. Whichever process
 * meets the limit asks the control actor; several may ask, all for the same plan, because the plan is named and not
 * counted up from whatever it is by then.
 *
 *  AU1 a database that drops keys when it is full is not moved for its size: eviction wins
 *  AU2 after a move nothing is asked for `QUIET_MS`: every process has heard of the new plan by then
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

/** AU2. More than twice as long as a process may be behind before it stops answering. */
const QUIET_MS = 5_000;
/** The control actor changes its owner in about this time. */
const RETRY_MS = 1_000;

type Reached = 'bandwidth' | 'data';

export class AutoUpgrade {
  /** Until when nothing is asked. */
  readonly #quietUntilMs = new Map<DatabaseId, number>();

  constructor(private readonly ports: AutoUpgradePorts) {}

  /** It may be called as often as one likes. @returns when the control actor has answered, or at once; never rejects */
  async reached(id: DatabaseId, limit: Reached): Promise<void> {
    const { view, clock, log } = this.ports;
    const database = view.state.live(id);
    const { settings } = database ?? {};
    if (database === undefined || settings?.isAutoUpgrading !== true) return;
    if (limit === 'data' && settings.isEvicting) return; // AU1
    const plan = DATABASE_PLAN_TERMS[settings.plan].next;
    const nowMs = clock.monotonicMs();
    if (plan === undefined || nowMs < (this.#quietUntilMs.get(id) ?? 0)) return;
    // Moved by another process a moment ago; whose clock may be ahead of this one's.
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
          // Its limits come along.
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

/** Nobody did it: the setting did. */
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
