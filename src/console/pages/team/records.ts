/** The API's types for teams and keys. */
import type { Operations, Schemas } from '#api';

export type Team = Operations['GET /v2/teams'][number];
export type TeamMember = Schemas['TeamMemberAnswer'];
export type ApiKey = Operations['GET /v2/apikeys'][number];
export type Right = Operations['GET /v2/rights'][number];
export type Role = Operations['GET /v2/roles'][number];
export type RoleAssignment = Operations['GET /v2/role-assignments'][number];
export type MadeApiKey = Operations['POST /v2/apikey'];

export const ROLES = [
  ['dev', 'dev: databases, search, queues, tokens'],
  ['admin', 'admin: that, members, plans and budgets'],
  ['finance', 'finance: plans and budgets, no tokens and no data'],
] as const;

/** The key created with the account: it cannot be deleted. */
export const DEFAULT_KEY = 'default';
