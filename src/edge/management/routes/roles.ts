/**
 * Rights, roles and their assignments.
 *
 *  RGV1 a caller gives only rights that it has itself: in a role that it makes or changes, and by an assignment
 */
import {
  type AuditAction,
  kindOf,
  type ResourceKind,
  type Right,
  type RoleAssignment,
} from '../../../domain/control/index.js';
import { newId, uuidOf } from '../../../protocol/index.js';
import { forbidden, notFound } from '../../error-map.js';
import { listOf, OK_ANSWER, OK_TEXT, one } from '../../http/answer-shape.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import {
  assignmentAnswer,
  RightAnswer,
  RoleAnswer,
  RoleAssignmentAnswer,
  rightAnswers,
  roleAnswer,
  roleAnswers,
} from '../answers/role-answers.js';
import { type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';
import { databasesOf, queuesOf } from '../owned.js';
import { AssignRoleRequest, ChangeRoleRequest, CreateRoleRequest } from '../requests/role-requests.js';

export const ROLE_ROUTES: readonly ManagementRoute[] = [
  managementRoute('GET /v2/rights', {
    summary: 'Lists the rights of which roles are made, with the built-in roles that have them.',
    permission: 'self:read',
    answer: listOf(RightAnswer),
    handle: () => rightAnswers(),
  }),

  managementRoute('GET /v2/roles', {
    summary: 'Lists the built-in roles, and the own roles of the account by name.',
    permission: 'account:read',
    answer: listOf(RoleAnswer),
    handle: async (call) => roleAnswers((await rolesOf(call)).roles),
  }),

  managementRoute('POST /v2/roles', {
    summary: 'Makes a role of the account: a name for several rights, each of which the caller has.',
    permission: 'members:change',
    body: CreateRoleRequest,
    example: { name: 'support', rights: ['queues:read', 'queues:use'], description: 'Looks at messages' },
    answer: one(RoleAnswer),
    handle: (call, { body }) => setRole(call, body.name, body, 'createRole'),
  }),

  managementRoute('PUT /v2/roles/:name', {
    summary: 'Gives a role of the account other rights; they apply immediately to all that have the role.',
    permission: 'members:change',
    body: ChangeRoleRequest,
    example: { rights: ['queues:read'] },
    answer: one(RoleAnswer),
    handle: (call, { path: { name = '' }, body }) => setRole(call, name, body, 'updateRole'),
  }),

  managementRoute('DELETE /v2/roles/:name', {
    summary: 'Deletes a role of the account, with its assignments and the API keys that have it.',
    permission: 'members:change',
    answer: OK_ANSWER,
    async handle(call, { path: { name = '' } }) {
      const about = { action: 'deleteRole', entity: name } as const;
      await call.change({ type: 'DeleteRole', account: call.account, name }, 'RolesAre', about);
      return OK_TEXT;
    },
  }),

  managementRoute('GET /v2/role-assignments', {
    summary: 'Lists the roles that people and groups have in addition to those of members, oldest first.',
    permission: 'account:read',
    answer: listOf(RoleAssignmentAnswer),
    handle: async (call) => (await rolesOf(call)).assignments.map(assignmentAnswer),
  }),

  managementRoute('POST /v2/role-assignments', {
    summary:
      'Gives a role to a person or to a group of an identity provider, for the account or for one resource of it.',
    permission: 'members:change',
    body: AssignRoleRequest,
    example: { role: 'viewer', email: 'ada@example.com' },
    answer: one(RoleAssignmentAnswer),
    handle: (call, { body }) => assignRole(call, body),
  }),

  managementRoute('DELETE /v2/role-assignments/:id', {
    summary: 'Takes an assigned role away.',
    permission: 'members:change',
    answer: OK_ANSWER,
    async handle(call, { path: { id = '' } }) {
      const found = (await rolesOf(call)).assignments.find((each) => each.id === id);
      if (found === undefined) throw new RefusedRequest(notFound('assignment'));
      const about = { action: 'unassignRole', entity: found.subject, secondary: found.role, third: found.on } as const;
      await call.change({ type: 'UnassignRole', account: call.account, id }, 'RolesAre', about);
      return OK_TEXT;
    },
  }),
];

function rolesOf(call: ManagementCall) {
  return call.ask({ type: 'ListRoles', account: call.account }, 'RolesAre');
}

/** @throws Refused */
async function setRole(
  call: ManagementCall,
  name: string,
  { rights, description = '' }: ChangeRoleRequest,
  action: Extract<AuditAction, 'createRole' | 'updateRole'>,
): Promise<RoleAnswer> {
  mustHave(call, rights);
  const role = { account: call.account, name, description, rights };
  const about = { action, entity: name, secondary: rights.join(' ') } as const;
  const command = { type: 'SetRole', role, isNew: action === 'createRole' } as const;
  const { roles } = await call.change(command, 'RolesAre', about);
  return roleAnswer(roles.find((each) => each.name === name) ?? role);
}

/** @throws Refused */
async function assignRole(call: ManagementCall, body: AssignRoleRequest): Promise<RoleAssignmentAnswer> {
  const { role, resource_id } = body;
  const on = resource_id?.toLowerCase();
  const { kind, subject } = subjectOf(body);
  const { roles } = await rolesOf(call);
  const found = roleAnswers(roles).find(({ name }) => name === role);
  if (found === undefined) throw new RefusedRequest(notFound('role'));
  const ofKind = on === undefined ? undefined : await kindOfResource(call, on);
  mustHave(call, found.rights as readonly Right[], on, ofKind);
  const id = newId('asg_', call.endpoint.parts.random);
  const assignment = {
    id,
    account: call.account,
    kind,
    subject,
    role,
    ...(on !== undefined && { on }),
    createdAtMs: 0,
  };
  const about = { action: 'assignRole', entity: subject, secondary: role, third: on } as const;
  const { assignments } = await call.change({ type: 'AssignRole', assignment }, 'RolesAre', about);
  const isThis = (each: RoleAssignment) =>
    each.subject === subject && each.kind === kind && each.role === role && each.on === on;
  return assignmentAnswer(assignments.find(isThis) ?? assignment);
}

/** @throws Refused 400 */
function subjectOf({ email, group, provider }: AssignRoleRequest) {
  if (email !== undefined && group === undefined && provider === undefined) {
    return { kind: 'person', subject: email.toLowerCase() } as const;
  }
  if (email !== undefined || group === undefined || provider === undefined || group === '' || /:|^$/.test(provider)) {
    throw invalid('email: give an email, or a group with its provider');
  }
  return { kind: 'group', subject: `${provider}:${group}` } as const;
}

/** Finds the resource among those that the caller sees. @throws Refused 404 */
async function kindOfResource(call: ManagementCall, on: string): Promise<ResourceKind> {
  const { indexes } = await call.ask({ type: 'ListSearchIndexes', account: call.account }, 'SearchIndexes');
  const ids = {
    databases: await databasesOf(call),
    queues: await queuesOf(call),
    indexes: call.allowed(indexes, 'indexes:read'),
  };
  for (const kind of ['databases', 'queues', 'indexes'] as const) {
    if (ids[kind].some(({ id }) => uuidOf(id) === on)) return kind;
  }
  throw new RefusedRequest(notFound('resource'));
}

/** RGV1. @param kind  of the resource: the role gives only rights of that kind there. @throws Refused 400, 403 */
function mustHave(call: ManagementCall, rights: readonly Right[], on?: string, kind?: ResourceKind): void {
  const given = kind === undefined ? rights : rights.filter((right) => kindOf(right) === kind);
  if (given.length === 0) throw invalid('resource_id: the role has no right on such a resource');
  const missing = given.find((right) => !call.grant.rights.has(right, on));
  if (missing !== undefined)
    throw new RefusedRequest(forbidden(`the right ${missing} can only be given by a caller who has it`));
}
