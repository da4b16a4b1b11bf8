/** One call of the operators' API: its caller and parameters, and the only place that answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ControlCommand, ControlReply } from '../../domain/control/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { AuditedPlace, ManagementGrant } from '../../ports/index.js';
import { accountIdOfUuid, databaseIdOfUuid, MOMENT_PROBLEM, type Moment, momentOf } from '../../protocol/index.js';
import { askControl, type ControlReplyOf } from '../control-asking.js';
import { notFound } from '../error-map.js';
import { PRIVATE_HEADERS } from '../http/answer.js';
import { answer, type PipelineContext, takeOver } from '../http/application.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import { type Route, routesOf } from '../http/route.js';
import type { Right } from '../team-permissions.js';
import type { AdminEndpoint } from './admin-endpoint.js';
import { DEFAULT_ADMIN_PAGE, MAX_ADMIN_PAGE } from './admin-limits.js';

/** The caller, and a function that checks the credentials again. */
export interface AdminCaller {
  readonly grant: ManagementGrant;
  readonly lookUp: () => ManagementGrant | undefined;
}

export class AdminCall {
  readonly #stop = new AbortController();
  readonly query: URLSearchParams;

  constructor(
    readonly endpoint: AdminEndpoint,
    private readonly context: PipelineContext,
    private readonly caller: AdminCaller,
    /** The id in the path; '' for routes without one. */
    readonly id = '',
  ) {
    this.query = new URLSearchParams(context.querystring);
    context.res.on('close', () => this.#stop.abort());
  }

  get request(): IncomingMessage {
    return this.context.req;
  }

  /** Takes the response for streaming. */
  takeOver(): ServerResponse {
    return takeOver(this.context);
  }

  get grant(): ManagementGrant {
    return this.caller.grant;
  }

  /** Aborted when the client has disconnected. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Are the credentials still valid, for the same account? Called by long answers. @throws CONTROL_STALE */
  isStillGranted(): boolean {
    return this.caller.lookUp()?.account === this.grant.account;
  }

  /** @throws Refused */
  ask<Type extends ControlReply['type']>(command: ControlCommand, type: Type): Promise<ControlReplyOf<Type>> {
    return askControl(this.endpoint.parts.control, command, type);
  }

  /** The database of the path, which must belong to the caller's account. @throws Refused 404 */
  async database(): Promise<Extract<AuditedPlace, { readonly kind: 'database' }>> {
    const id = databaseIdOfUuid(this.id);
    if (id === undefined) throw new RefusedRequest(notFound('database'));
    const { account } = this.grant;
    const { database } = await this.ask({ type: 'GetDatabase', account, database: id }, 'OneDatabase');
    const { id: found, partitions, firstPartition } = database;
    return { kind: 'database', database: found, partitions, firstPartition };
  }

  /** The queue of the path, which must belong to the caller's account. @throws Refused 404 */
  async queue(): Promise<Extract<AuditedPlace, { readonly kind: 'queue' }>> {
    const id = accountIdOfUuid(this.id);
    const { accounts } = await this.ask({ type: 'ListQueues', account: this.grant.account }, 'Accounts');
    const found = accounts.find((account) => account.id === id);
    if (found === undefined) throw new RefusedRequest(notFound('queue'));
    return { kind: 'queue', account: found.id };
  }

  /** A position or an instant. @throws Refused 400 */
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
    if (limit < 1 || limit > most) throw invalid(`${name}: must be a number from 1 to ${most}`);
    return limit;
  }

  /** A key as bytes: from text, or from base64 in the parameter with the suffix `_base64`. @throws Refused 400 */
  keyBytes(name: string): ByteString | undefined {
    const encoded = this.query.get(`${name}_base64`);
    if (encoded === null) {
      const text = this.query.get(name);
      return text === null ? undefined : (Buffer.from(text, 'utf8').toString('latin1') as ByteString);
    }
    // An unescaped plus has become a space.
    const standard = encoded.replaceAll(' ', '+').replaceAll('-', '+').replaceAll('_', '/');
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(standard)) throw invalid(`${name}_base64: must be base64`);
    return Buffer.from(standard, 'base64').toString('latin1') as ByteString;
  }

  isAsked(name: string): boolean {
    const text = this.query.get(name);
    if (text === null || text === 'false') return false;
    if (text !== 'true' && text !== '') throw invalid(`${name}: must be true or false`);
    return true;
  }

  json(text: string, more: Readonly<Record<string, string>> = {}): void {
    const headers = { ...PRIVATE_HEADERS, ...more };
    answer(this.context, { status: 200, text, headers, isLast: this.endpoint.isDraining });
  }
}

/** The caller needs the right in the key's account. A route answers through its call. */
export type AdminRoute = Route<AdminCall, Right>;
export const adminRoute = routesOf<AdminCall, Right>();
