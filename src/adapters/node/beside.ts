/**
 * What work beside the main thread has in common, in a thread or a process of its own: a log that the main one writes,
 * failures as plain data, and a place behind live commands.
 */
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { describeError, type ErrorCode, MillraceError } from '../../kernel/index.js';
import type { Log, LogFields } from '../../ports/index.js';

/** A MillraceError as it is cloned on its way to the main thread. */
export interface PlainFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: LogFields;
}

/** A record of the log as it is sent; the main thread writes it. */
export interface LogMessage {
  readonly kind: 'log';
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: LogFields;
}

/** A log whose records are sent. */
export function sentLog(send: (message: LogMessage) => void, context: LogFields = {}): Log {
  const write =
    (level: LogMessage['level']) =>
    (event: string, fields: LogFields = {}) =>
      send({ kind: 'log', level, event, fields: plainFields({ ...context, ...fields }) });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    with: (fields) => sentLog(send, { ...context, ...fields }),
  };
}

/** What went wrong, as the main thread can make it again; DEFECT for what is no MillraceError. */
export function plainFailure(error: unknown): PlainFailure {
  const { code, details } =
    error instanceof MillraceError ? error : ({ code: 'DEFECT', details: {} } satisfies Partial<PlainFailure>);
  return { code, message: describeError(error), details: plainFields(details) };
}

/** On Linux this is the priority of the calling thread alone; elsewhere it would be the whole process's, commands and all. */
export function lowerPriority(niceness: number, log: Log): void {
  lower(() => setPriority(niceness), log);
}

/** Of every thread of this process, and of those that they start: helpers collect its garbage behind live commands, too. */
export function lowerPriorityOfAll(niceness: number, log: Log): void {
  lower(() => {
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), niceness);
  }, log);
}

function lower(set: () => void, log: Log): void {
  if (process.platform !== 'linux') return;
  try {
    set();
  } catch (error) {
    log.debug('thread.priority-kept', { reason: describeError(error) });
  }
}

/** What can be cloned, whatever it was. */
function plainFields(fields: LogFields): LogFields {
  return JSON.parse(JSON.stringify(fields)) as LogFields;
}
