/** One call of the management API: who makes it, and its ways to the control actor. */
import {
  type AuditAction,
  type AuditNote,
  auditActionNumber,
  type ControlCommand,
  type ControlReply,
} from '../../domain/control/index.js';
import { type AccountId, assert } from '../../kernel/index.js';
import { uuidOf } from '../../messages/index.js';
import type { Behind, ManagementGrant, MaybeBehind } from '../../ports/index.js';
import { askControl, type ControlReplyOf } from '../control-asking.js';
import { type Route, routesOf } from '../http/route.js';
import { furthest } from '../http/stale-header.js';
import { mayDo, type Permission } from '../team-permissions.js';
import type { ManagementFace } from './management-face.js';

/** What the audit log says about a change, beside who made it. */
export interface About {
  readonly action: AuditAction;
  /** Name of what is changed. */
  readonly entity: string;
  readonly secondary?: string | undefined;
  readonly third?: string | undefined;
  readonly reason?: string | undefined;
  /** In whose log it is; undefined: in that of the account for which the key acts. */
  readonly account?: AccountId | undefined;
}

/** A command that changes the control state. */
export type Change = Exclude<ControlCommand, { readonly type: 'Audited' }>;

export class ManagementCall {
  constructor(
    readonly face: ManagementFace,
    /** Undefined for calls that anybody may make. */
    private readonly granted: ManagementGrant | undefined,
    private readonly ip: string,
  ) {}

  /** The oldest of what its answer was made of, where that came from a read model. */
  behind: Behind | undefined;

  /** What an answer is made of: how far it is behind is said with the answer. */
  shows<Shown extends MaybeBehind>(shown: Shown): Shown {
    this.behind = furthest(this.behind, shown.behind);
    return shown;
  }

  get grant(): ManagementGrant {
    assert(this.granted !== undefined, 'a call without a caller');
    return this.granted;
  }

  /** The key acts for this account. */
  get account(): AccountId {
    return this.grant.account;
  }

  /** Records name an owner so: a person by e-mail, a team by its id. */
  get customerId(): string {
    return this.grant.isTeam ? uuidOf(this.account) : this.grant.email;
  }

  get nowMs(): number {
    return this.face.parts.clock.nowMs();
  }

  /** Whoever may not change what a secret opens does not see it either. */
  get maySeeSecrets(): boolean {
    return mayDo(this.grant.role, 'databases');
  }

  /** @throws Refused when the control actor refuses; what the way to it throws */
  ask<Type extends ControlReply['type']>(command: ControlCommand, type: Type): Promise<ControlReplyOf<Type>> {
    return askControl(this.face.parts.control, command, type);
  }

  /**
   * This does what `ask` does, with a line of the audit log in the same entry, also where all was so already or the
   * data alone changes: somebody has asked for it, and was not refused.
   */
  change<Type extends ControlReply['type']>(command: Change, type: Type, about: About): Promise<ControlReplyOf<Type>> {
    const { account = this.account } = about;
    return this.ask({ type: 'Audited', account, note: this.#noteOf(about), command, always: true }, type);
  }

  #noteOf({ action, entity, secondary = '', third = '', reason = '' }: About): AuditNote {
    const { email, keyName } = this.grant;
    return {
      actor: email,
      action: auditActionNumber(action),
      source: `API_KEY - ${keyName}`,
      entity,
      secondaryEntity: secondary,
      thirdEntity: third,
      ip: this.ip,
      reason,
    };
  }
}

/** The permission is the caller's, in the account of the key. */
export type ManagementRoute = Route<ManagementCall, Permission>;
export const managementRoute = routesOf<ManagementCall, Permission>();
