/** Effects about a whole partition. They only run in replay: owners change the closure themselves. */
import { CLOSE_EFFECT, OPEN_EFFECT } from '../closure.js';
import { NO_KEYS } from '../command-description.js';
import type { CommandSpec } from '../command-spec.js';
import { OK, type Reply, unknownCommand } from '../reply.js';
import { family, NOT_IN_REDIS, type Row, row } from './rows.js';

export const PARTITION_EFFECTS: readonly CommandSpec[] = family('server', [
  row(CLOSE_EFFECT, 2, NOT_IN_REDIS, 'The partition accepts no commands of clients.', closes(true)),
  row(OPEN_EFFECT, 2, NOT_IN_REDIS, 'The partition accepts commands of clients.', closes(false)),
]);

function closes(isClosed: boolean): Pick<Row, 'handler' | 'flags' | 'keys'> {
  return {
    flags: ['write', 'noscript'],
    keys: NO_KEYS,
    handler: ({ isReplay, args, closure }): Reply => {
      if (!isReplay) throw unknownCommand(args.words);
      closure.set(isClosed, args.integer(1));
      return OK;
    },
  };
}
