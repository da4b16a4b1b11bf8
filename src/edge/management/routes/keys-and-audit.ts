/** API keys of the caller, and the audit log of the account. */

import { MAX_AUDIT_PAGE } from '../../../domain/control/index.js';
import { notFound } from '../../error-map.js';
import { listOf, OK_ANSWER, OK_TEXT, one } from '../../http/answer-shape.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import {
  ApiKeyAnswer,
  AuditLogAnswer,
  apiKeyAnswer,
  auditLogAnswer,
  NewApiKeyAnswer,
} from '../answers/people-answers.js';
import { teamInScope } from '../ids.js';
import { type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';
import { AuditQuery, auditPage } from '../requests/audit-query.js';
import { CreateApiKeyRequest } from '../requests/people-requests.js';

export const KEY_AND_AUDIT_ROUTES: readonly ManagementRoute[] = [
  managementRoute('GET /auditlogs', {
    alsoPaths: ['/v2/auditlogs'],
    summary: 'Lists the changes of the account, newest first, at most a thousand entries.',
    permission: 'account:read',
    query: AuditQuery,
    answer: listOf(AuditLogAnswer),
    async handle(call, { query }) {
      const command = { type: 'ListAudit', account: call.account, count: MAX_AUDIT_PAGE } as const;
      const { entries } = await call.ask(command, 'AuditEntries');
      const answers = entries.map((entry) => auditLogAnswer(call, entry));
      return [...auditPage(answers, query)];
    },
  }),

  managementRoute('POST /apikey', {
    alsoPaths: ['/v2/apikey'],
    summary: 'Creates an API key of the caller; its secret is shown only in this response.',
    permission: 'self:change',
    body: CreateApiKeyRequest,
    example: { name: 'laptop' },
    answer: one(NewApiKeyAnswer),
    async handle(call, { body: { name, readonly: isReadOnly = false, team_id, role, resource_id } }) {
      const { email, isTeam } = call.grant;
      const account = team_id === undefined ? call.account : (await teamInScope(call, team_id)).team.id;
      const { clear, id, sha256 } = call.endpoint.secrets.ofApiKey();
      if (role === undefined && resource_id !== undefined) throw invalid('resource_id: needs a role');
      const on = resource_id?.toLowerCase();
      const limit = role === undefined ? {} : { role, ...(on !== undefined && { on }) };
      const key = { id, account, email, name, sha256, isReadOnly, createdAtMs: call.nowMs, ...limit };
      await call.change({ type: 'CreateApiKey', key }, 'ApiKeys', { action: 'createApiKey', entity: name, account });
      return { ...apiKeyAnswer(key, isTeam || team_id !== undefined), api_key: clear };
    },
  }),

  managementRoute('GET /v2/apikeys', {
    summary: 'Lists the API keys of the caller, without their secrets; with the key of a team those of that team.',
    permission: 'self:read',
    answer: listOf(ApiKeyAnswer),
    async handle(call) {
      return (await keysOf(call)).map((key) => apiKeyAnswer(key, call.grant.isTeam || key.account !== call.account));
    },
  }),

  managementRoute('DELETE /v2/apikey/:name', {
    alsoPaths: ['/apikey/:name'],
    summary: 'Deletes an API key of the caller; it is refused from then on.',
    permission: 'self:change',
    answer: OK_ANSWER,
    async handle(call, { path: { name } }) {
      const { email } = call.grant;
      const key = (await keysOf(call)).find((each) => each.name === name);
      if (key === undefined) throw new RefusedRequest(notFound('API key'));
      const { id, account } = key;
      const about = { action: 'deleteApiKey', entity: key.name, account } as const;
      await call.change({ type: 'DeleteApiKey', email, id }, 'ApiKeys', about);
      return OK_TEXT;
    },
  }),
];

async function keysOf(call: ManagementCall) {
  const { email, isTeam } = call.grant;
  const { keys } = await call.ask({ type: 'ListApiKeys', email }, 'ApiKeys');
  return keys.filter(({ account }) => !isTeam || account === call.account);
}
