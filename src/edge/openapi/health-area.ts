/**
 * The OpenAPI area of health checks and metrics on the port of MILLRACE_METRICS_PORT. Source:
 * docs/operations/alarms.md.
 */
import { type AnswerShape, json } from '../http/answer-shape.js';
import type { ApiArea } from '../http/openapi/area.js';
import { FLAG, record, schemaNamed, TEXT, wordOf } from '../http/openapi/parts.js';
import { described } from '../http/route.js';
import { EXPOSITION_TYPE } from '../monitoring/exposition.js';

const READINESS: AnswerShape = json(schemaNamed('Readiness'), 'Ready; 503: not ready, and the checks say why.', {
  status: 'ready',
  checks: { journal: { ok: true } },
});

export const HEALTH_AREA: ApiArea = {
  name: 'health',
  description: 'Health and metrics of the process, on a separate port that need not be open to clients.',
  servers: [
    {
      url: 'http://{host}:{port}',
      description: 'MILLRACE_METRICS_PORT.',
      variables: { host: { default: '127.0.0.1' }, port: { default: '7400' } },
    },
  ],
  client: { url: 'MILLRACE_METRICS_URL', token: 'MILLRACE_METRICS_TOKEN' },
  access: ({ permission }) =>
    permission === 'open'
      ? 'Needs no credentials.'
      : 'Needs the token of `MILLRACE_METRICS_TOKEN`, if the process has one.',
  security: {
    metricsToken: { type: 'http', scheme: 'bearer', description: 'MILLRACE_METRICS_TOKEN, where it is set.' },
  },
  schemas: {
    Readiness: record({
      status: wordOf(['ready', 'not ready']),
      checks: { type: 'object', additionalProperties: record({ ok: FLAG }, { detail: TEXT, isStuck: FLAG }) },
    }),
  },
  refusals: ({ permission }) =>
    permission === 'open'
      ? {}
      : { 401: { about: 'The token is missing or wrong.', text: 'unable to authenticate: invalid token' } },
  routes: [
    described('GET /livez', {
      summary: 'Says that the process turns.',
      permission: 'open',
      answer: json(record({ status: { const: 'ok' } })),
    }),
    described('GET /readyz', {
      summary: 'Says whether the process serves, and each check.',
      permission: 'open',
      answer: READINESS,
      statuses: [200, 503],
    }),
    described('GET /readyz/edge', {
      summary: 'Readiness of this process for client requests.',
      permission: 'open',
      answer: READINESS,
      statuses: [200, 503],
    }),
    described('GET /metrics', {
      summary: 'Shows the metrics of the process.',
      permission: 'scrape',
      answer: { kind: 'other', type: EXPOSITION_TYPE, description: 'Metrics, a line each.' },
    }),
  ],
};
