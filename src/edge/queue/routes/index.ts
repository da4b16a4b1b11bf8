/** All declared routes of the queue endpoint except publishing. */
import type { QueueRoute } from '../queue-call.js';
import { BATCH_ROUTES } from './batch.js';
import { DLQ_ROUTES } from './dlq.js';
import { EVENT_ROUTES } from './events.js';
import { FLOW_CONTROL_ROUTES } from './flow-control.js';
import { KEY_ROUTES } from './keys.js';
import { MESSAGE_STORY_ROUTES } from './message-story.js';
import { MESSAGE_ROUTES } from './messages.js';
import { QUEUE_ROUTES } from './queues.js';
import { SCHEDULE_ROUTES } from './schedules.js';
import { TOPIC_ROUTES } from './topics.js';
import { TRIGGER_ROUTES } from './trigger.js';
import { WORKFLOW_DLQ_ROUTES } from './workflow-dlq.js';
import { WORKFLOW_EVENT_ROUTES } from './workflow-events.js';
import { WORKFLOW_LOG_ROUTES } from './workflow-logs.js';
import { WORKFLOW_RUN_ROUTES } from './workflow-runs.js';

export const QUEUE_FACE_ROUTES: readonly QueueRoute[] = [
  ...BATCH_ROUTES,
  ...MESSAGE_ROUTES,
  ...MESSAGE_STORY_ROUTES,
  ...QUEUE_ROUTES,
  ...TOPIC_ROUTES,
  ...SCHEDULE_ROUTES,
  ...DLQ_ROUTES,
  ...EVENT_ROUTES,
  ...FLOW_CONTROL_ROUTES,
  ...KEY_ROUTES,
  ...TRIGGER_ROUTES,
  ...WORKFLOW_RUN_ROUTES,
  ...WORKFLOW_EVENT_ROUTES,
  ...WORKFLOW_LOG_ROUTES,
  ...WORKFLOW_DLQ_ROUTES,
];
