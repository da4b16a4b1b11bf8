/**
 * Shared parts of worker threads and job processes: a log that is sent to the main thread, failures as plain data, and a
 * lower priority than live commands.
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

/** An error in a form that the main thread can rebuild; DEFECT for errors other than MillraceError. */
export function plainFailure(error: unknown): PlainFailure {
  const { code, details } =
    error instanceof MillraceError ? error : ({ code: 'DEFECT', details: {} } satisfies Partial<PlainFailure>);
  return { code, message: describeError(error), details: plainFields(details) };
}

/** On Linux this sets the priority of the calling thread alone; elsewhere it has no effect, because it would slow down the whole process. */
export function lowerPriority(niceness: number, log: Log): void {
  lower(() => setPriority(niceness), log);
}

/** Sets the priority of every thread of this process and of their later threads, including those of the garbage collector. */
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

/** The value in a form that can be cloned. */
function plainFields(fields: LogFields): LogFields {
  return JSON.parse(JSON.stringify(fields)) as LogFields;
}
