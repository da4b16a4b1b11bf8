/**
 * The table of commands of a queue account, workflow runs included: one row each. The engine, codec, gateway and
 * mailbox read the properties of a command here.
 */

import { cancelMessage, cancelMessages } from '../messages/cancel.js';
import { listMessages } from '../messages/message-list.js';
import { getMessage } from '../messages/message-view.js';
import type { QueueSteps, QueueTurn } from '../messages/turn.js';
import type { OutboxCall, PublishItem, QueueCommand, QueueCommandOf, QueueReply } from '../model/commands.js';
import { countFailedRuns, deleteFailedRuns, getFailedRun, listFailedRuns } from '../runs/failed-run-commands.js';
import { cancelFailureFunction, runFailureFunction } from '../runs/failure-function.js';
import { rerunRun } from '../runs/rerun.js';
import { resumeRuns } from '../runs/resume.js';
import { cancelRuns, endRunByCommand, getRun, refuseStep } from '../runs/run-commands.js';
import { listAllWaiters } from '../runs/waiter-list.js';
import { listWaiters, notify, wait } from '../runs/waits.js';
import {
  deleteApplication,
  deleteApplicationEndpoint,
  deleteEventType,
  getApplication,
  listApplications,
  listEventTypes,
  revokePortalLinks,
  rotateEndpointSecret,
  setApplication,
  setApplicationEndpoint,
  setEventType,
} from './application-commands.js';
import { recordAttempt } from './attempts.js';
import { listBreakers, setBreaker, setBreakerRules } from './breaker-commands.js';
import { deleteDlq, getDlq, retryDlq } from './dlq-commands.js';
import { getFlow, getGlobalParallelism, listFlows, pauseFlow, pinFlow, resetFlow, unpinFlow } from './flow-commands.js';
import {
  deleteGroup,
  getGroup,
  listGroups,
  removeEndpoints,
  setGroupDefaults,
  upsertEndpoints,
} from './group-commands.js';
import { takeOutbox } from './outbox.js';
import { publish, takeIntake } from './publish.js';
import { deleteQueue, getQueue, listQueues, pauseQueue, setQueue } from './queue-commands.js';
import { deleteSchedule, getSchedule, listSchedules, pauseSchedule, setSchedule } from './schedule-commands.js';

/** Memory that a command takes in the mailbox without its contents. */
export const COMMAND_BYTES = 256;
/** The same for one published message without its body. */
const ITEM_BYTES = 512;

/** The properties of one type of command: how it is decided, and how the gateway, codec and mailbox treat it. */
export interface CommandRow<Command extends QueueCommand = QueueCommand> {
  decide(command: Command, turn: QueueTurn): QueueReply | QueueSteps;
  /** The command records no event, so it may be repeated freely. */
  readonly isRead?: true;
  /**
   * A repetition changes no state and gets the same answer, because the command carries its own ids or names the
   * resulting state. Default: never.
   */
  isRepeatable?(command: Command): boolean;
  /**
   * The command is refused when the disk is nearly full. Commands that finish accepted work are not. A refused step
   * fails its delivery, and the endpoint is called again for it. Default: never.
   */
  mayGrow?(command: Command): boolean;
  /** Memory in the mailbox. Default: `COMMAND_BYTES`. */
  bytes?(command: Command): number;
  /** Only the account's own actor sends it; the same command from another process is refused. */
  readonly isOfTheActor?: true;
}

type CommandTable = { readonly [Type in QueueCommand['type']]: CommandRow<QueueCommandOf<Type>> };

const isRead = true;
const isOfTheActor = true;
const isRepeatable = () => true;
const mayGrow = () => true;

export const QUEUE_COMMANDS: CommandTable = {
  Publish: {
    decide: publish,
    isRepeatable,
    mayGrow: ({ isTold }) => !isTold,
    bytes: ({ items }) => bytesOfItems(items),
  },
  GetMessage: { decide: getMessage, isRead },
  ListMessages: { decide: listMessages, isRead },
  CancelMessage: { decide: cancelMessage },
  CancelMessages: { decide: cancelMessages },

  SetQueue: { decide: setQueue, isRepeatable, mayGrow },
  PauseQueue: { decide: pauseQueue, isRepeatable },
  DeleteQueue: { decide: deleteQueue, isRepeatable },
  GetQueue: { decide: getQueue, isRead },
  ListQueues: { decide: listQueues, isRead },

  UpsertEndpoints: { decide: upsertEndpoints, isRepeatable, mayGrow },
  RemoveEndpoints: { decide: removeEndpoints },
  SetGroupDefaults: { decide: setGroupDefaults, isRepeatable, mayGrow },
  DeleteGroup: { decide: deleteGroup, isRepeatable },
  GetGroup: { decide: getGroup, isRead },
  ListGroups: { decide: listGroups, isRead },

  SetApplication: { decide: setApplication, isRepeatable, mayGrow },
  DeleteApplication: { decide: deleteApplication },
  GetApplication: { decide: getApplication, isRead },
  ListApplications: { decide: listApplications, isRead },
  SetApplicationEndpoint: { decide: setApplicationEndpoint, isRepeatable, mayGrow },
  DeleteApplicationEndpoint: { decide: deleteApplicationEndpoint },
  RevokePortalLinks: { decide: revokePortalLinks, isRepeatable },
  RotateEndpointSecret: { decide: rotateEndpointSecret, isRepeatable, mayGrow },
  SetEventType: {
    decide: setEventType,
    isRepeatable,
    mayGrow,
    bytes: ({ schema = '', examples = '' }) => COMMAND_BYTES + schema.length + examples.length,
  },
  DeleteEventType: { decide: deleteEventType },
  ListEventTypes: { decide: listEventTypes, isRead },

  SetSchedule: {
    decide: setSchedule,
    isRepeatable,
    mayGrow,
    bytes: ({ schedule }) => COMMAND_BYTES + schedule.body.length,
  },
  PauseSchedule: { decide: pauseSchedule, isRepeatable },
  DeleteSchedule: { decide: deleteSchedule },
  GetSchedule: { decide: getSchedule, isRead },
  ListSchedules: { decide: listSchedules, isRead },

  GetDlq: { decide: getDlq, isRead },
  DeleteDlq: { decide: deleteDlq },
  RetryDlq: { decide: retryDlq, mayGrow },

  GetFlow: { decide: getFlow, isRead },
  ListFlows: { decide: listFlows, isRead },
  PauseFlow: { decide: pauseFlow, isRepeatable },
  PinFlow: { decide: pinFlow, isRepeatable, mayGrow },
  UnpinFlow: { decide: unpinFlow, isRepeatable },
  ResetFlow: { decide: resetFlow },

  SetBreakerRules: { decide: setBreakerRules, isRepeatable },
  ListBreakers: { decide: listBreakers, isRead },
  SetBreaker: { decide: setBreaker, mayGrow },

  GetGlobalParallelism: { decide: getGlobalParallelism, isRead },
  // The actor fills in the position: the state does not know where the journal is.
  GetPosition: { decide: () => ({ type: 'Position', position: 0 }), isRead },
  RecordAttempt: { decide: recordAttempt, isOfTheActor, bytes: bytesOfOutcome },
  TakeIntake: {
    decide: takeIntake,
    isOfTheActor,
    bytes: ({ records }) => records.reduce((sum, { items }) => sum + bytesOfItems(items), 0),
  },
  TakeOutbox: {
    decide: takeOutbox,
    isRepeatable,
    mayGrow,
    bytes: ({ records }) => records.reduce((sum, { call }) => sum + bytesOfCall(call), 0),
  },

  Wait: {
    decide: wait,
    isRepeatable,
    mayGrow,
    bytes: ({ stepText, timeoutBody }) => COMMAND_BYTES + stepText.length + (timeoutBody?.length ?? 0),
  },
  Notify: {
    decide: notify,
    // An event for one run is recognised by its id. Without a run, a repetition would find other waiters.
    isRepeatable: ({ runId }) => runId !== undefined,
    mayGrow,
    bytes: ({ content }) => COMMAND_BYTES + content.length,
  },
  ListWaiters: { decide: listWaiters, isRead },
  ListAllWaiters: { decide: listAllWaiters, isRead },
  GetRun: { decide: getRun, isRead },
  EndRun: {
    decide: endRunByCommand,
    isRepeatable: ({ how }) => how === 'finish',
    bytes: ({ response }) => COMMAND_BYTES + (response?.length ?? 0),
  },
  CancelRuns: { decide: cancelRuns },
  GetFailedRun: { decide: getFailedRun, isRead },
  ListFailedRuns: { decide: listFailedRuns, isRead },
  DeleteFailedRuns: { decide: deleteFailedRuns },
  CountFailedRuns: { decide: countFailedRuns, isRead },
  ResumeRuns: { decide: resumeRuns, isRepeatable, mayGrow },
  RerunRun: {
    decide: rerunRun,
    isRepeatable,
    mayGrow,
    bytes: ({ entries }) => entries.reduce((sum, { body }) => sum + ITEM_BYTES + body.length, COMMAND_BYTES),
  },
  RunFailureFunction: { decide: runFailureFunction, isRepeatable, mayGrow },
  CancelFailureFunction: { decide: cancelFailureFunction },
  RefuseStep: { decide: refuseStep, isRepeatable, mayGrow },
};

export function rowOf(command: QueueCommand): CommandRow {
  return QUEUE_COMMANDS[command.type] as CommandRow;
}

export function bytesOfItems(items: readonly PublishItem[]): number {
  let bytes = COMMAND_BYTES;
  for (const { body, workflow } of items) {
    const stepText = workflow?.kind === 'trigger' ? workflow.invoker?.stepText : undefined;
    bytes += ITEM_BYTES + body.length + (stepText?.length ?? 0);
  }
  return bytes;
}

function bytesOfCall(call: OutboxCall): number {
  if (call.kind === 'publish') return bytesOfItems([call.item]);
  return COMMAND_BYTES + (call.kind === 'schedule' ? call.schedule.body.length : call.content.length);
}

/** The sent body is counted too: the body cache may hold the same bytes, but may also have dropped them. */
function bytesOfOutcome({ outcome, sentBody }: QueueCommandOf<'RecordAttempt'>): number {
  const received = outcome.kind === 'response' ? outcome.body.length : 0;
  return COMMAND_BYTES + received + (sentBody?.length ?? 0);
}
