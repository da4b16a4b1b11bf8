/**
 * The commands of an account's queue, those about runs among them: one row each. The engine, the codec, the gateway and
 * the mailbox know of a command what its row says.
 */
import { getGlobalParallelism, getPosition } from './accounts/account-commands.js';
import { bytesOfItems, bytesOfOutcome, COMMAND_BYTES } from './command-bytes.js';
import type { CommandRow } from './command-row.js';
import type { QueueCommand, QueueCommandOf } from './commands.js';
import { deleteDlq, getDlq, retryDlq } from './dead-letters/dlq-commands.js';
import { recordAttempt } from './delivery/attempts.js';
import { countFailedRuns, deleteFailedRuns, getFailedRun, listFailedRuns } from './failed-runs/failed-run-commands.js';
import { cancelFailureFunction, runFailureFunction } from './failed-runs/failure-function.js';
import { resumeRuns } from './failed-runs/resume.js';
import { getFlow, listFlows, pauseFlow, pinFlow, resetFlow, unpinFlow } from './flow-control/flow-commands.js';
import {
  deleteGroup,
  getGroup,
  listGroups,
  removeEndpoints,
  setGroupDefaults,
  upsertEndpoints,
} from './groups/group-commands.js';
import { cancelMessage, cancelMessages } from './messages/cancel.js';
import { listMessages } from './messages/message-list.js';
import { getMessage } from './messages/message-view.js';
import { publish, takeIntake } from './messages/publish.js';
import { deleteQueue, getQueue, listQueues, pauseQueue, setQueue } from './queues/queue-commands.js';
import { cancelRuns, endRunByCommand, getRun } from './runs/run-commands.js';
import {
  deleteSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
  setSchedule,
} from './schedules/schedule-commands.js';
import { listAllWaiters } from './waits/waiter-list.js';
import { listWaiters, notify, wait } from './waits/waits.js';

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

  GetGlobalParallelism: { decide: getGlobalParallelism, isRead },
  GetPosition: { decide: getPosition, isRead },
  RecordAttempt: { decide: recordAttempt, isOfTheActor, bytes: bytesOfOutcome },
  TakeIntake: {
    decide: takeIntake,
    isOfTheActor,
    bytes: ({ records }) => records.reduce((sum, { items }) => sum + bytesOfItems(items), 0),
  },

  Wait: {
    decide: wait,
    isRepeatable,
    mayGrow,
    bytes: ({ stepText, timeoutBody }) => COMMAND_BYTES + stepText.length + (timeoutBody?.length ?? 0),
  },
  Notify: {
    decide: notify,
    // It is known by its id when it is of one run. All who wait are others the second time.
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
  RunFailureFunction: { decide: runFailureFunction, isRepeatable, mayGrow },
  CancelFailureFunction: { decide: cancelFailureFunction },
};

export function rowOf(command: QueueCommand): CommandRow {
  return QUEUE_COMMANDS[command.type] as CommandRow;
}
