/** One call of the management API: its caller, and commands to the control actor. */
import {
  type AuditAction,
  type AuditNote,
  auditActionNumber,
  type ControlCommand,
  type ControlReply,
  type ResourceKind,
} from '../../domain/control/index.js';
import { type AccountId, assert, type DatabaseId } from '../../kernel/index.js';
import type { Behind, ManagementGrant, MaybeBehind } from '../../ports/index.js';
import { uuidOf } from '../../protocol/index.js';
import { askControl, type ControlReplyOf } from '../control-asking.js';
import { type Route, routesOf } from '../http/route.js';
import { furthest } from '../http/stale-header.js';
import type { Right } from '../team-permissions.js';
import type { ManagementEndpoint } from './management-endpoint.js';

/** The audit log's entry about a change, without its caller. */
export interface About {
  readonly action: AuditAction;
  /** Name of the changed object. */
  readonly entity: string;
  readonly secondary?: string | undefined;
  readonly third?: string | undefined;
  readonly reason?: string | undefined;
  /** The account with the log entry; undefined: the key's account. */
  readonly account?: AccountId | undefined;
}

/** A command that changes the control state. */
export type Change = Exclude<ControlCommand, { readonly type: 'Audited' }>;

/** Replaces a secret, so that clients find the field with its expected type. */
export const MASKED_SECRET = '********';

export class ManagementCall {
  constructor(
    readonly endpoint: ManagementEndpoint,
    /** Undefined for open routes. */
    private readonly granted: ManagementGrant | undefined,
    private readonly ip: string,
  ) {}

  /** The largest lag of the read models behind the answer's data. */
  behind: Behind | undefined;

  /** Passes data of the answer through and notes its lag, which a header reports. */
  shows<Shown extends MaybeBehind>(shown: Shown): Shown {
    this.behind = furthest(this.behind, shown.behind);
    return shown;
  }

  get grant(): ManagementGrant {
    assert(this.granted !== undefined, 'a call without a caller');
    return this.granted;
  }

  /** The account of the key. */
  get account(): AccountId {
    return this.grant.account;
  }

  /** An owner's name in records: a person's e-mail, or a team's id. */
  get customerId(): string {
    return this.grant.isTeam ? uuidOf(this.account) : this.grant.email;
  }

  /** The author of writes to a database, as its journal keeps it. */
  get author(): string {
    return `${this.grant.email}@${this.ip}`;
  }

  get nowMs(): number {
    return this.endpoint.parts.clock.nowMs();
  }

  /** The resources on which the caller has the right. */
  allowed<Resource extends { readonly id: AccountId | DatabaseId }>(
    resources: readonly Resource[],
    right: Right,
  ): readonly Resource[] {
    return resources.filter(({ id }) => this.grant.rights.has(right, uuidOf(id)));
  }

  /** Without the right to use a resource no secrets of it are seen, not even masked. */
  maySeeSecrets(kind: ResourceKind, id: AccountId | DatabaseId): boolean {
    return this.grant.rights.has(`${kind}:use`, uuidOf(id));
  }

  /** A secret with write access: masked for a read-only key, unless a setting allows it. */
  masked(secret: string): string {
    const isShown = !this.grant.isReadOnly || this.endpoint.parts.readOnlyKeysSeeSecrets;
    return isShown || secret === '' ? secret : MASKED_SECRET;
  }

  /** The same; also masked without the right to change the resource. */
  writingSecret(secret: string, kind: ResourceKind, id: AccountId | DatabaseId): string {
    const mayWrite = this.grant.rights.has(`${kind}:change`, uuidOf(id));
    return mayWrite || secret === '' ? this.masked(secret) : MASKED_SECRET;
  }

  /** @throws Refused if the control actor refuses; errors of the connection to it */
  ask<Type extends ControlReply['type']>(command: ControlCommand, type: Type): Promise<ControlReplyOf<Type>> {
    return askControl(this.endpoint.parts.control, command, type);
  }

  /**
   * The same as `ask`, with a line of the audit log in the same entry. The line is written even if the settings did
   * not change, because the command was accepted.
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

/** The caller needs the right in the key's account, on the resource of the path if it is one on resources. */
export type ManagementRoute = Route<ManagementCall, Right>;
export const managementRoute = routesOf<ManagementCall, Right>();
