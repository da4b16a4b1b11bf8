/** What threads of this process have in common: a log that the main thread writes, and a place behind live commands. */
import { setPriority } from 'node:os';
import { describeError } from '../kernel/index.js';
import type { Log, LogFields } from '../ports/index.js';

/** As a thread sends it. */
export interface LogMessage {
  readonly kind: 'log';
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: LogFields;
}

export function threadLog(send: (message: LogMessage) => void, context: LogFields = {}): Log {
  const write =
    (level: LogMessage['level']) =>
    (event: string, fields: LogFields = {}) =>
      send({ kind: 'log', level, event, fields: plainFields({ ...context, ...fields }) });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    with: (fields) => threadLog(send, { ...context, ...fields }),
  };
}

/** What can be cloned to another thread, whatever it was. */
export function plainFields(fields: LogFields): LogFields {
  return JSON.parse(JSON.stringify(fields)) as LogFields;
}

/** On Linux this is the priority of the calling thread alone; elsewhere it would be the whole process's. */
export function lowerPriority(niceness: number, log: Log): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(niceness);
  } catch (error) {
    log.debug('thread.priority-kept', { reason: describeError(error) });
  }
}
