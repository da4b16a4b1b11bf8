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
import { deleteFailedRuns, getFailedRun, listFailedRuns } from './failed-runs/failed-run-commands.js';
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
import { listWaiters, notify, wait } from './waits/waits.js';

type CommandTable = { readonly [Type in QueueCommand['type']]: CommandRow<QueueCommandOf<Type>> };

const isRead = true;
const isOfTheActor = true;
const isRepeatable = () => true;
const mayGrow = () => true;

export const QUEUE_COMMANDS: CommandTable = {
  Publish: {
    number: 1,
    decide: publish,
    isRepeatable,
    mayGrow: ({ isTold }) => !isTold,
    bytes: ({ items }) => bytesOfItems(items),
  },
  GetMessage: { number: 2, decide: getMessage, isRead },
  CancelMessage: { number: 3, decide: cancelMessage },
  CancelMessages: { number: 4, decide: cancelMessages },

  SetQueue: { number: 5, decide: setQueue, isRepeatable, mayGrow },
  PauseQueue: { number: 6, decide: pauseQueue, isRepeatable },
  DeleteQueue: { number: 7, decide: deleteQueue, isRepeatable },
  GetQueue: { number: 8, decide: getQueue, isRead },
  ListQueues: { number: 9, decide: listQueues, isRead },

  UpsertEndpoints: { number: 10, decide: upsertEndpoints, isRepeatable, mayGrow },
  RemoveEndpoints: { number: 11, decide: removeEndpoints },
  SetGroupDefaults: { number: 12, decide: setGroupDefaults, isRepeatable, mayGrow },
  DeleteGroup: { number: 13, decide: deleteGroup, isRepeatable },
  GetGroup: { number: 14, decide: getGroup, isRead },
  ListGroups: { number: 15, decide: listGroups, isRead },

  SetSchedule: {
    number: 16,
    decide: setSchedule,
    isRepeatable,
    mayGrow,
    bytes: ({ schedule }) => COMMAND_BYTES + schedule.body.length,
  },
  PauseSchedule: { number: 17, decide: pauseSchedule, isRepeatable },
  DeleteSchedule: { number: 18, decide: deleteSchedule },
  GetSchedule: { number: 19, decide: getSchedule, isRead },
  ListSchedules: { number: 20, decide: listSchedules, isRead },

  GetDlq: { number: 21, decide: getDlq, isRead },
  DeleteDlq: { number: 22, decide: deleteDlq },
  RetryDlq: { number: 23, decide: retryDlq, mayGrow },

  GetFlow: { number: 24, decide: getFlow, isRead },
  ListFlows: { number: 25, decide: listFlows, isRead },
  PauseFlow: { number: 26, decide: pauseFlow, isRepeatable },
  PinFlow: { number: 27, decide: pinFlow, isRepeatable, mayGrow },
  UnpinFlow: { number: 28, decide: unpinFlow, isRepeatable },
  ResetFlow: { number: 29, decide: resetFlow },

  GetGlobalParallelism: { number: 30, decide: getGlobalParallelism, isRead },
  GetPosition: { number: 31, decide: getPosition, isRead },
  RecordAttempt: { number: 32, decide: recordAttempt, isOfTheActor, bytes: bytesOfOutcome },
  TakeIntake: {
    number: 33,
    decide: takeIntake,
    isOfTheActor,
    bytes: ({ records }) => records.reduce((sum, { items }) => sum + bytesOfItems(items), 0),
  },

  Wait: {
    number: 34,
    decide: wait,
    isRepeatable,
    mayGrow,
    bytes: ({ stepText, timeoutBody }) => COMMAND_BYTES + stepText.length + (timeoutBody?.length ?? 0),
  },
  Notify: {
    number: 35,
    decide: notify,
    // Of one run it is known by its id. All who wait are others the second time.
    isRepeatable: ({ runId }) => runId !== undefined,
    mayGrow,
    bytes: ({ content }) => COMMAND_BYTES + content.length,
  },
  ListWaiters: { number: 36, decide: listWaiters, isRead },
  GetRun: { number: 37, decide: getRun, isRead },
  EndRun: {
    number: 38,
    decide: endRunByCommand,
    isRepeatable: ({ how }) => how === 'finish',
    bytes: ({ response }) => COMMAND_BYTES + (response?.length ?? 0),
  },
  CancelRuns: { number: 39, decide: cancelRuns },
  GetFailedRun: { number: 40, decide: getFailedRun, isRead },
  ListFailedRuns: { number: 41, decide: listFailedRuns, isRead },
  DeleteFailedRuns: { number: 42, decide: deleteFailedRuns },
  ResumeRuns: { number: 43, decide: resumeRuns, isRepeatable, mayGrow },
  RunFailureFunction: { number: 44, decide: runFailureFunction, isRepeatable, mayGrow },
  CancelFailureFunction: { number: 45, decide: cancelFailureFunction },
};

export function rowOf(command: QueueCommand): CommandRow {
  return QUEUE_COMMANDS[command.type] as CommandRow;
}
