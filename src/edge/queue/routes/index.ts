/** All declared routes of the queue endpoint. */
import type { HotRoute, QueueRoute } from '../queue-call.js';
import { APPLICATION_MESSAGE_ROUTES } from './application-messages.js';
import { APPLICATION_PORTAL_ROUTES } from './application-portal.js';
import { APPLICATION_ROUTES } from './applications.js';
import { BATCH_ROUTE } from './batch.js';
import { DESTINATION_ROUTES } from './destinations.js';
import { DLQ_ROUTES } from './dlq.js';
import { EVENT_TYPE_ROUTES } from './event-types.js';
import { EVENT_ROUTES } from './events.js';
import { FLOW_CONTROL_ROUTES } from './flow-control.js';
import { HOOK_ROUTES } from './hooks.js';
import { KEY_ROUTES } from './keys.js';
import { MESSAGE_STORY_ROUTES } from './message-story.js';
import { MESSAGE_ROUTES } from './messages.js';
import { PUBLISH_ROUTES } from './publish.js';
import { QUEUE_ROUTES } from './queues.js';
import { SCHEDULE_ROUTES } from './schedules.js';
import { TOPIC_ROUTES } from './topics.js';
import { TRIGGER_ROUTES } from './trigger.js';
import { TRIGGER_FEED_ROUTES } from './trigger-feed.js';
import { DATABASE_TRIGGER_ROUTES } from './triggers.js';
import { WORKFLOW_CHECK_ROUTES } from './workflow-checks.js';
import { WORKFLOW_DLQ_ROUTES } from './workflow-dlq.js';
import { WORKFLOW_EVENT_ROUTES } from './workflow-events.js';
import { WORKFLOW_LOG_ROUTES } from './workflow-logs.js';
import { WORKFLOW_RERUN_ROUTES } from './workflow-reruns.js';
import { WORKFLOW_RUN_ROUTES } from './workflow-runs.js';

/** Served in front of Koa. */
export const HOT_ROUTES: readonly HotRoute[] = [...PUBLISH_ROUTES, BATCH_ROUTE];

/** Served by Koa's router. It also refuses other methods of a batch. */
export const ROUTED: readonly QueueRoute[] = [
  BATCH_ROUTE,
  ...MESSAGE_ROUTES,
  ...MESSAGE_STORY_ROUTES,
  ...QUEUE_ROUTES,
  ...TOPIC_ROUTES,
  ...SCHEDULE_ROUTES,
  ...DLQ_ROUTES,
  ...EVENT_ROUTES,
  ...FLOW_CONTROL_ROUTES,
  ...DESTINATION_ROUTES,
  ...KEY_ROUTES,
  ...TRIGGER_ROUTES,
  ...APPLICATION_ROUTES,
  ...APPLICATION_MESSAGE_ROUTES,
  ...APPLICATION_PORTAL_ROUTES,
  ...EVENT_TYPE_ROUTES,
  ...WORKFLOW_CHECK_ROUTES,
  ...DATABASE_TRIGGER_ROUTES,
  ...TRIGGER_FEED_ROUTES,
  ...WORKFLOW_RERUN_ROUTES,
  ...WORKFLOW_RUN_ROUTES,
  ...WORKFLOW_EVENT_ROUTES,
  ...WORKFLOW_LOG_ROUTES,
  ...WORKFLOW_DLQ_ROUTES,
  ...HOOK_ROUTES,
];

/** Routes of one application that the holder of a link to its portal may call. */
const OF_PORTAL: ReadonlySet<string> = new Set([
  'get /v2/apps/:id/portal',
  'get /v2/apps/:id/endpoints',
  'post /v2/apps/:id/endpoints',
  'get /v2/apps/:id/endpoints/:endpoint',
  'patch /v2/apps/:id/endpoints/:endpoint',
  'delete /v2/apps/:id/endpoints/:endpoint',
  'get /v2/apps/:id/endpoints/:endpoint/secrets',
  'post /v2/apps/:id/endpoints/:endpoint/secrets/rotate',
  'post /v2/apps/:id/endpoints/:endpoint/enable',
  'post /v2/apps/:id/endpoints/:endpoint/test',
  'get /v2/apps/:id/event-types',
  'get /v2/apps/:id/messages',
  'post /v2/apps/:id/replay',
]);
export const PORTAL_ROUTES: ReadonlySet<QueueRoute> = new Set(
  ROUTED.filter(({ methods: [method], paths: [path] }) => OF_PORTAL.has(`${method} ${path}`)),
);
