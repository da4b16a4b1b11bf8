/** One call of the operators' API: what was asked for, by whom, and the only place that answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ControlCommand, ControlReply } from '../../domain/control/index.js';
import type { ByteString } from '../../kernel/index.js';
import { accountIdOfUuid, databaseIdOfUuid, MOMENT_PROBLEM, type Moment, momentOf } from '../../messages/index.js';
import type { AuditedPlace, ManagementGrant } from '../../ports/index.js';
import { askControl, type ControlReplyOf } from '../control-asking.js';
import { notFound } from '../error-map.js';
import { PRIVATE_HEADERS, write } from '../http/answer.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import { type Route, routesOf } from '../http/route.js';
import type { Permission } from '../team-permissions.js';
import type { AdminFace } from './admin-face.js';
import { DEFAULT_ADMIN_PAGE, MAX_ADMIN_PAGE } from './admin-limits.js';

/** Who asks, and whether the same would still be let in. */
export interface AdminCaller {
  readonly grant: ManagementGrant;
  readonly lookUp: () => ManagementGrant | undefined;
}

export class AdminCall {
  readonly #stop = new AbortController();

  constructor(
    readonly face: AdminFace,
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    private readonly caller: AdminCaller,
    private readonly asked: { readonly query: URLSearchParams; readonly id: string | undefined },
  ) {
    response.on('close', () => this.#stop.abort());
  }

  get grant(): ManagementGrant {
    return this.caller.grant;
  }

  get query(): URLSearchParams {
    return this.asked.query;
  }

  /** The id in the path; '' for routes without one. */
  get id(): string {
    return this.asked.id ?? '';
  }

  /** Aborted when nobody waits for the answer any more. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Would the call still be let in, for the same account? For answers that go on. @throws CONTROL_STALE */
  isStillGranted(): boolean {
    return this.caller.lookUp()?.account === this.grant.account;
  }

  /** @throws Refused */
  ask<Type extends ControlReply['type']>(command: ControlCommand, type: Type): Promise<ControlReplyOf<Type>> {
    return askControl(this.face.parts.control, command, type);
  }

  /** The database of the path, which must be the caller's. @throws Refused 404 */
  async database(): Promise<Extract<AuditedPlace, { readonly kind: 'database' }>> {
    const id = databaseIdOfUuid(this.id);
    if (id === undefined) throw new RefusedRequest(notFound('database'));
    const { account } = this.grant;
    const { database } = await this.ask({ type: 'GetDatabase', account, database: id }, 'OneDatabase');
    return { kind: 'database', database: database.id, partitions: database.partitions };
  }

  /** The queue of the path, which must be the caller's. @throws Refused 404 */
  async queue(): Promise<Extract<AuditedPlace, { readonly kind: 'queue' }>> {
    const id = accountIdOfUuid(this.id);
    const { accounts } = await this.ask({ type: 'ListQueues', account: this.grant.account }, 'Accounts');
    const found = accounts.find((account) => account.id === id);
    if (found === undefined) throw new RefusedRequest(notFound('queue'));
    return { kind: 'queue', account: found.id };
  }

  /** A position, or an instant. @throws Refused 400 */
  moment(name: string): Moment | undefined {
    const text = this.query.get(name);
    if (text === null || text === '') return undefined;
    const moment = momentOf(text);
    if (moment === undefined) throw invalid(`${name}: ${MOMENT_PROBLEM}`);
    return moment;
  }

  requiredMoment(name: string): Moment {
    const moment = this.moment(name);
    if (moment === undefined) throw invalid(`${name}: is required`);
    return moment;
  }

  /** @param name of the parameter */
  limit(most = MAX_ADMIN_PAGE, name = 'limit'): number {
    const text = this.query.get(name);
    if (text === null) return Math.min(DEFAULT_ADMIN_PAGE, most);
    const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
    if (limit < 1 || limit > most) throw invalid(`${name}: is a number from 1 to ${most}`);
    return limit;
  }

  /** A key as its bytes: text, or base64 under the name with `_base64` behind it. @throws Refused 400 */
  keyBytes(name: string): ByteString | undefined {
    const encoded = this.query.get(`${name}_base64`);
    if (encoded === null) {
      const text = this.query.get(name);
      return text === null ? undefined : (Buffer.from(text, 'utf8').toString('latin1') as ByteString);
    }
    // A plus that was not escaped has become a space.
    const standard = encoded.replaceAll(' ', '+').replaceAll('-', '+').replaceAll('_', '/');
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(standard)) throw invalid(`${name}_base64: is base64`);
    return Buffer.from(standard, 'base64').toString('latin1') as ByteString;
  }

  isAsked(name: string): boolean {
    const text = this.query.get(name);
    if (text === null || text === 'false') return false;
    if (text !== 'true' && text !== '') throw invalid(`${name}: is true or false`);
    return true;
  }

  json(text: string, more: Readonly<Record<string, string>> = {}): void {
    const headers = { ...PRIVATE_HEADERS, ...more };
    write(this.response, { status: 200, text, headers, isLast: this.face.isDraining });
  }
}

/** The permission is the caller's, in the account of the key. A route answers by its call. */
export type AdminRoute = Route<AdminCall, Permission>;
export const adminRoute = routesOf<AdminCall, Permission>();
