/**
 * Objects of the caller's account, by the ids in paths and bodies; and changes to them, each with a line in the audit
 * log.
 */
import {
  type Account,
  type AuditAction,
  type Database,
  type DatabaseChange,
  type DatabaseSettings,
  DEFAULT_DATABASE_SETTINGS,
} from '../../domain/control/index.js';
import { notFound } from '../error-map.js';
import { RefusedRequest } from '../http/refused.js';
import { databaseIdIn, queueIdIn } from './ids.js';
import type { Change, ManagementCall } from './management-call.js';

/** Databases that the caller may see, oldest first. */
export async function databasesOf(call: ManagementCall): Promise<readonly Database[]> {
  const { databases } = await call.ask({ type: 'ListOwnDatabases', account: call.account }, 'Databases');
  return call.allowed(
    databases.map(({ database }) => database),
    'databases:read',
  );
}

/** @throws Refused 404 */
export async function databaseIn(call: ManagementCall, uuid: string | undefined): Promise<Database> {
  const command = { type: 'GetDatabase', account: call.account, database: databaseIdIn(uuid) } as const;
  return (await call.ask(command, 'OneDatabase')).database;
}

/** @param changeOf gets the current settings. @param secondary for the audit log. @throws Refused */
export async function changedDatabase(
  call: ManagementCall,
  uuid: string | undefined,
  action: AuditAction,
  changeOf: (settings: DatabaseSettings) => DatabaseChange,
  secondary = '',
): Promise<Database> {
  const { id, name, settings = DEFAULT_DATABASE_SETTINGS } = await databaseIn(call, uuid);
  const command = { type: 'ChangeDatabase', account: call.account, database: id, change: changeOf(settings) } as const;
  return (await call.change(command, 'OneDatabase', { action, entity: name, secondary })).database;
}

/** Queues that the caller may see. */
export async function queuesOf(call: ManagementCall): Promise<readonly Account[]> {
  const { accounts } = await call.ask({ type: 'ListQueues', account: call.account }, 'Accounts');
  return call.allowed(accounts, 'queues:read');
}

/** @throws Refused 404 */
export async function queueIn(call: ManagementCall, uuid: string | undefined): Promise<Account> {
  const id = queueIdIn(uuid);
  const found = (await queuesOf(call)).find((queue) => queue.id === id);
  if (found === undefined) throw new RefusedRequest(notFound('message queue account'));
  return found;
}

/** @throws Refused */
export async function changedQueue(
  call: ManagementCall,
  uuid: string | undefined,
  action: AuditAction,
  commandOf: (queue: Account) => Change,
  secondary = '',
): Promise<Account> {
  const queue = await queueIn(call, uuid);
  return (await call.change(commandOf(queue), 'OneAccount', { action, entity: queue.name, secondary })).account;
}

/** Plan and budget determine a queue's limits. */
export function planChange(plan: Extract<Change, { readonly type: 'ChangeAccountPlan' }>['plan']) {
  return ({ id }: Account) => ({ type: 'ChangeAccountPlan', account: id, plan, limits: {} }) as const;
}
