/** Alert rules: their state, changes, silences, tests, and the history of alerts. */
import type { AlertRule } from '../../../domain/control/index.js';
import type { AlertRuleId } from '../../../kernel/index.js';
import { notFound } from '../../error-map.js';
import { listOf, OK_ANSWER, OK_TEXT, one } from '../../http/answer-shape.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import {
  AlertAnswer,
  AlertRuleAnswer,
  AlertsAnswer,
  alertAnswer,
  alertRuleAnswer,
  TestedChannelAnswer,
  testedAnswer,
} from '../answers/alert-answers.js';
import { type About, type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';
import { AlertHistoryQuery, AlertRuleRequest, alertRuleOf, SilenceAlertRequest } from '../requests/alert-requests.js';

const EXAMPLE = {
  name: 'Payments fail',
  kind: 'destination',
  target: 'pay.example',
  threshold: 5,
  window: 300,
  channels: [{ type: 'webhook', address: 'https://pager.example/alerts' }],
};
const DEFAULT_HISTORY = 100;

export const ALERT_ROUTES: readonly ManagementRoute[] = [
  managementRoute('GET /v2/alerts', {
    summary: 'Lists the alert rules with their states, and the open alerts.',
    permission: 'account:read',
    answer: one(AlertsAnswer),
    async handle(call) {
      const { rules, alerts } = await alertsOf(call, 0);
      return {
        email_available: call.endpoint.parts.alerts.hasMail,
        rules: rules.map((rule) => alertRuleAnswer(call, rule, alerts)),
        firing: alerts.filter(({ resolvedAtMs }) => resolvedAtMs === 0).map((alert) => alertAnswer(call, alert)),
      };
    },
  }),

  managementRoute('GET /v2/alerts/history', {
    summary: 'Lists alerts, open and ended, newest first, with their notices.',
    permission: 'account:read',
    query: AlertHistoryQuery,
    answer: listOf(AlertAnswer),
    async handle(call, { query: { count = String(DEFAULT_HISTORY) } }) {
      const { alerts } = await alertsOf(call, Number(count));
      return alerts.slice(0, Number(count)).map((alert) => alertAnswer(call, alert));
    },
  }),

  managementRoute('POST /v2/alerts', {
    summary: 'Makes an alert rule.',
    permission: 'alerts:change',
    body: AlertRuleRequest,
    example: EXAMPLE,
    answer: one(AlertRuleAnswer),
    async handle(call, { body }) {
      const id = call.endpoint.secrets.alertRuleId();
      const rule = alertRuleOf(body, { id, account: call.account, silentUntilMs: 0 });
      return saved(call, rule, { isNew: true, action: 'createAlertRule' });
    },
  }),

  managementRoute('PUT /v2/alerts/:id', {
    summary: 'Replaces an alert rule; its silence stays.',
    permission: 'alerts:change',
    body: AlertRuleRequest,
    example: EXAMPLE,
    answer: one(AlertRuleAnswer),
    async handle(call, { path, body }) {
      const { id, silentUntilMs } = await ruleIn(call, path.id);
      const rule = alertRuleOf(body, { id, account: call.account, silentUntilMs });
      return saved(call, rule, { isNew: false, action: 'updateAlertRule' });
    },
  }),

  managementRoute('POST /v2/alerts/:id/silence', {
    summary: 'Sends no notices of an alert rule for some time; the raises of its open alerts follow afterwards.',
    permission: 'alerts:change',
    body: SilenceAlertRequest,
    example: { seconds: 3600 },
    answer: one(AlertRuleAnswer),
    async handle(call, { path, body: { seconds } }) {
      const rule = await ruleIn(call, path.id);
      const silentUntilMs = seconds === 0 ? 0 : call.nowMs + seconds * 1000;
      return saved(call, { ...rule, silentUntilMs }, { isNew: false, action: 'silenceAlertRule' });
    },
  }),

  managementRoute('POST /v2/alerts/:id/test', {
    summary: 'Sends a notice that is marked as a test to every channel of an alert rule.',
    permission: 'alerts:change',
    answer: listOf(TestedChannelAnswer),
    async handle(call, { path }) {
      const rule = await ruleIn(call, path.id);
      const about: About = { action: 'testAlertRule', entity: rule.name };
      await call.change({ type: 'SetAlertRule', rule, isNew: false }, 'OneAlertRule', about);
      return (await call.endpoint.parts.alerts.test(rule)).map((tested) => testedAnswer(call, tested));
    },
  }),

  managementRoute('DELETE /v2/alerts/:id', {
    summary: 'Deletes an alert rule. A built-in one can only be disabled.',
    permission: 'alerts:change',
    answer: OK_ANSWER,
    async handle(call, { path }) {
      const { id, name } = await ruleIn(call, path.id);
      const about: About = { action: 'deleteAlertRule', entity: name };
      await call.change({ type: 'DeleteAlertRule', account: call.account, rule: id }, 'OneAlertRule', about);
      return OK_TEXT;
    },
  }),
];

function alertsOf(call: ManagementCall, count: number) {
  return call.ask({ type: 'ListAlerts', account: call.account, count }, 'AlertsAre');
}

/** @throws Refused 404 */
async function ruleIn(call: ManagementCall, id: string | undefined): Promise<AlertRule> {
  const { rules } = await alertsOf(call, 0);
  const found = rules.find((rule) => rule.id === (id as AlertRuleId));
  if (found === undefined) throw new RefusedRequest(notFound('alert rule'));
  return found;
}

/** @throws Refused 400 for a channel that must not be called, and as the control actor refuses */
async function saved(
  call: ManagementCall,
  rule: AlertRule,
  { isNew, action }: { readonly isNew: boolean; readonly action: About['action'] },
): Promise<AlertRuleAnswer> {
  const { alerts } = call.endpoint.parts;
  for (const { type, address } of rule.channels) {
    const refusal = type === 'email' ? mailRefusal(alerts) : alerts.refusalOf(address);
    if (refusal !== undefined) throw invalid(`channels: ${refusal}`);
  }
  const about: About = { action, entity: rule.name };
  const reply = await call.change({ type: 'SetAlertRule', rule, isNew }, 'OneAlertRule', about);
  return alertRuleAnswer(call, reply.rule, (await alertsOf(call, 0)).alerts);
}

function mailRefusal({ hasMail }: { readonly hasMail: boolean }): string | undefined {
  return hasMail ? undefined : 'no mail server is set (MILLRACE_SMTP_URL)';
}
