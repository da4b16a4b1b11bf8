/**
 * Queue accounts. An account has one; another one in the other region can be created, and others can be moved to it.
 */

import { ACCOUNT_PLAN_TERMS, type AuditAction } from '../../../domain/control/index.js';
import { newAccountId } from '../../../protocol/index.js';
import { notFound } from '../../error-map.js';
import { listOf, OK_ANSWER, OK_TEXT, one, TEXTS } from '../../http/answer-shape.js';
import { RefusedRequest } from '../../http/refused.js';
import { mustBeAllowed } from '../../team-permissions.js';
import { QueueAccountAnswer, queueAccountAnswer } from '../answers/queue-account-answer.js';
import { QueueStatisticsAnswer, queueStatisticsAnswer } from '../answers/queue-statistics.js';
import { chargesOfQueue, statisticsOf } from '../charges.js';
import { EXAMPLE_ID } from '../example-id.js';
import { teamOfCaller } from '../ids.js';
import { type ManagementRoute, managementRoute } from '../management-call.js';
import { changedQueue, planChange, queueIn, queuesOf } from '../owned.js';
import { endOfPeriod, PeriodQuery } from '../requests/database-requests.js';
import {
  CreateQueueRequest,
  MoveQueueRequest,
  QueueBudgetRequest,
  queueBudgetOf,
  SetQueuePlanRequest,
} from '../requests/queue-requests.js';

export const QUEUE_ACCOUNT_ROUTES: readonly ManagementRoute[] = [
  managementRoute('GET /v2/msgq/users', {
    answersSome: true,
    summary: 'Lists the message queue accounts of the account.',
    permission: 'queues:read',
    answer: listOf(QueueAccountAnswer),
    async handle(call) {
      return (await queuesOf(call)).map((queue) => queueAccountAnswer(call, queue));
    },
  }),

  managementRoute('GET /v2/msgq/user', {
    answersSome: true,
    summary: 'Shows the first message queue account of the account.',
    permission: 'queues:read',
    answer: one(QueueAccountAnswer),
    async handle(call) {
      const [queue] = await queuesOf(call);
      if (queue === undefined) throw new RefusedRequest(notFound('message queue account'));
      return queueAccountAnswer(call, queue);
    },
  }),

  managementRoute('POST /v2/msgq/user', {
    summary: 'Makes a message queue account in a region in which the account has none.',
    permission: 'queues:change',
    body: CreateQueueRequest,
    example: { region: 'us-east-1' },
    answer: one(QueueAccountAnswer),
    async handle(call, { body: { region } }) {
      const { parts, secrets } = call.endpoint;
      const id = newAccountId(parts.random);
      const queue = { id, name: `queue ${id}`, email: '', ...secrets.ofAccount() };
      const command = { type: 'CreateQueue', account: call.account, queue, region } as const;
      const entry = { action: 'createQueue', entity: queue.name, secondary: region } as const;
      return queueAccountAnswer(call, (await call.change(command, 'OneAccount', entry)).account);
    },
  }),

  managementRoute('GET /v2/msgq/user/:id', {
    summary: 'Shows a message queue account.',
    permission: 'queues:read',
    answer: one(QueueAccountAnswer),
    async handle(call, { path }) {
      return queueAccountAnswer(call, await queueIn(call, path.id));
    },
  }),

  managementRoute('GET /v2/msgq/stats/:id', {
    summary: 'Shows the usage of a message queue account.',
    permission: 'queues:read',
    query: PeriodQuery,
    answer: one(QueueStatisticsAnswer),
    async handle(call, { path, query }) {
      const { period = '1h' } = query;
      const queue = await queueIn(call, path.id);
      const nowMs = endOfPeriod(query, call.nowMs);
      const series = call.shows(await statisticsOf(call).account(queue.id, period, nowMs));
      return queueStatisticsAnswer(series, nowMs, chargesOfQueue(call, queue));
    },
  }),

  managementRoute('POST /v2/msgq/rotate-token/:id', {
    summary: 'Replaces the tokens of a message queue account; the old ones are refused from then on.',
    permission: 'queues:change',
    answer: one(QueueAccountAnswer),
    async handle(call, { path }) {
      const tokens = call.endpoint.secrets.ofQueue();
      return queueAccountAnswer(
        call,
        await changedQueue(call, path.id, 'rotateQueueToken', ({ id }) => ({
          type: 'ResetQueueTokens',
          account: id,
          tokens,
        })),
      );
    },
  }),

  managementRoute('POST /v2/msgq/set-plan/:id', {
    summary: 'Moves a message queue account to another plan, with its limits.',
    permission: 'billing:change',
    body: SetQueuePlanRequest,
    example: { plan_name: 'msgq_fixed_1m' },
    answer: OK_ANSWER,
    async handle(call, { path, body: { plan_name } }) {
      const { type, reserved } = ACCOUNT_PLAN_TERMS[plan_name];
      await changedQueue(call, path.id, 'setQueuePlan', planChange({ type, reserved }), plan_name);
      return OK_TEXT;
    },
  }),

  managementRoute('PATCH /v2/msgq/update-budget/:id', {
    summary: 'Sets the monthly budget of a message queue account, in dollars.',
    permission: 'billing:change',
    body: QueueBudgetRequest,
    example: { budget: 25 },
    answer: OK_ANSWER,
    async handle(call, { path, body }) {
      const budgetDollars = queueBudgetOf(body);
      const said = String(budgetDollars);
      await changedQueue(call, path.id, 'updateQueueBudget', planChange({ budgetDollars }), said);
      return OK_TEXT;
    },
  }),

  prodPackRoute('enable', true, 'enableQueueProdPack'),
  prodPackRoute('disable', false, 'disableQueueProdPack'),

  managementRoute('POST /v2/msgq/move-to-team', {
    summary: 'Moves a message queue, with all that it holds, to a team in which the caller may change it.',
    permission: 'queues:change',
    body: MoveQueueRequest,
    example: { msgq_id: EXAMPLE_ID, target_team_id: EXAMPLE_ID },
    answer: OK_ANSWER,
    async handle(call, { body }) {
      const queue = await queueIn(call, body.msgq_id);
      const found = await teamOfCaller(call, body.target_team_id);
      mustBeAllowed(found, 'queues:change');
      const { team } = found;
      const { parts, secrets } = call.endpoint;
      const id = newAccountId(parts.random);
      // Without an e-mail the account is only a queue, without sign-in.
      const replacement = { id, name: `queue ${id}`, email: '', ...secrets.ofAccount() };
      const command = { type: 'MoveQueue', account: call.account, queue: queue.id, to: team.id, replacement } as const;
      await call.change(command, 'OneAccount', { action: 'moveQueue', entity: queue.name, secondary: team.name });
      return OK_TEXT;
    },
  }),

  managementRoute('GET /v2/msgq/ipv4', {
    summary: 'Lists the addresses from which messages are delivered, as CIDR blocks.',
    permission: 'open',
    answer: TEXTS,
    handle: async ({ endpoint }) => endpoint.parts.deliveryAddresses,
  }),
];

function prodPackRoute(verb: 'enable' | 'disable', hasProdPack: boolean, action: AuditAction): ManagementRoute {
  return managementRoute(`POST /v2/msgq/${verb}-prodpack/:id`, {
    summary: `Switches the production pack of a message queue account ${hasProdPack ? 'on' : 'off'}.`,
    permission: 'billing:change',
    answer: OK_ANSWER,
    async handle(call, { path }) {
      await changedQueue(call, path.id, action, planChange({ hasProdPack }));
      return OK_TEXT;
    },
  });
}
